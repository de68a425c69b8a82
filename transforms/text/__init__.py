"""Beam shells of the text mechanisms."""
