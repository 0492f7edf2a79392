"""The addresses of the console, and those of review under /api/v1/."""

from django.urls import path

from densemem.console import choose_profile
from relationships import pages as knowledge
from review import api, pages

app_name = "console"
urlpatterns = [
    path("", pages.home, name="home"),
    path("review/", pages.inbox, name="inbox"),
    path("review/<str:task_id>/", pages.task, name="task"),
    path("relationships/<str:relationship_id>/", knowledge.relationship, name="relationship"),
    path("recall/", knowledge.recall, name="recall"),
    path("profile/", choose_profile, name="choose-profile"),
]
rest = [
    path("reviews", api.Reviews.as_view(), name="reviews"),
    path("reviews/<str:review_id>", api.Review.as_view(), name="review"),
]
