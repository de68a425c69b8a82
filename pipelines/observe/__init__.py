"""How a run tells other machines of itself: a file of metrics, lineage, traces. One file for each, all off by default."""
