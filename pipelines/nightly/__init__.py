"""What `sottovoce nightly` and `sottovoce ledger` drive."""
