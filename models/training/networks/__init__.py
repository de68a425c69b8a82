"""The intent and slot models, and the layers whose per-example gradients are cheap."""
