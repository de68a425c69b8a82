"""What `sottovoce forget` drives."""
