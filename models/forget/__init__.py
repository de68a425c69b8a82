"""Taking people out of finished runs again: what is left must be what a run without them would have written."""
