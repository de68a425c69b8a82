"""Commands that work through a batch of files in a plain loop on this machine."""
