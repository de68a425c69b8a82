"""Everything that `sottovoce evaluate` runs, with its charts."""
