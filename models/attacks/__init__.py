"""Attacks that measure what a released model or data set still gives away."""
