"""What a run gives the people in it and what it does not, in numbers and in plain words."""
