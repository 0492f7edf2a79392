"""Console pages of review: the inbox, and one question with its evidence."""

from review.pages.views import home, inbox, task

__all__ = ["home", "inbox", "task"]
