"""Template tags of knowledge."""
