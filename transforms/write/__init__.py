"""From rows to shards on a file system, in an order that tells nothing."""
