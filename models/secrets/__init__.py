"""The secret of a run as a reference that may travel, and whether it is strong enough."""
