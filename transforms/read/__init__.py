"""From a path to batches of Utterances."""
