"""TT_Builder: train a detector from labelled text, measure it, and write it with its model card."""
