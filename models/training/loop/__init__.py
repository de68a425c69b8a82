"""A training from files to a model: prepare, start, step, check, keep, export."""
