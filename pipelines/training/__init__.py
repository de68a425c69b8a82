"""Training: ordered, started once per committed run, run, and watched."""
