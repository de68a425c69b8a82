"""A run on disk: where everything lies, what a commit lists, and how a committed run is read back."""
