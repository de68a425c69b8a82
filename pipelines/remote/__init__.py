"""Runners away from this process: their options, workers, templates, and drivers that do not stay."""
