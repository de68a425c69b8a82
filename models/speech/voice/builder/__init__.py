"""VT_Builder: make a pool of public speakers and train the phone network from their speech."""
