"""Figures that say what a protection is worth."""
