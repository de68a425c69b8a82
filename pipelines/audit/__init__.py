"""`sottovoce audit`: attack what was made before anybody trains on it, and write down whether it held."""
