"""Word 3-grams: counted under noise or from sampled lines, and written as recognisers read them."""
