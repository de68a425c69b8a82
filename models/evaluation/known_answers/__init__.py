"""Data made on the spot whose right answers are known: sentences, and speech with its word times."""
