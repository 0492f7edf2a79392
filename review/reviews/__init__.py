"""What a client needs to act on a question: its words, what may answer it, and what the answer would change.

"Client Review" of the memory write pipeline. One reading stands behind every door.
"""

from review.reviews.read import get_review, list_reviews, tasks_for
from review.reviews.shapes import Review, ReviewTask

__all__ = ["Review", "ReviewTask", "get_review", "list_reviews", "tasks_for"]
