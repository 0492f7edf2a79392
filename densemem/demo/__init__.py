"""The sample: an invented team with its papers, sent through the whole path to show what becomes of them."""
