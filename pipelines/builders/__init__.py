"""What `sottovoce build` drives."""
