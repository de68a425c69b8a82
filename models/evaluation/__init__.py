"""What protection is worth: attacks, metrics, and data whose answers are known."""
