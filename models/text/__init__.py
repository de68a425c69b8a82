"""Text: what is sensitive in it is found (`detect`) and replaced (`replace`); slots move with the edits."""
