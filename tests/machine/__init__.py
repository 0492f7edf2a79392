"""A state machine that drives the product beside a plain model of it, and compares the two after every step."""
