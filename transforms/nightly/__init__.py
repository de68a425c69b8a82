"""What nights know of each other: dialogues taken, budgets spent."""
