"""`sottovoce serve`: the same models over HTTP, in our own shape and in those of COMPRISE, Presidio and ELG, and a page."""
