"""Console pages of knowledge: one Relationship with its reasons, and recall."""

from relationships.pages.views import recall, relationship

__all__ = ["recall", "relationship"]
