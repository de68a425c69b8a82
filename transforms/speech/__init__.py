"""Beam shells of the speech chain."""
