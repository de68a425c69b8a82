"""Speech: its words are found, its voice is changed, its sensitive words are masked, it is cut into slices."""
