"""The addresses of the console."""

from django.urls import path

from densemem.console import choose_profile
from relationships import pages as knowledge
from review import pages

app_name = "console"
urlpatterns = [
    path("", pages.home, name="home"),
    path("review/", pages.inbox, name="inbox"),
    path("review/<str:task_id>/", pages.task, name="task"),
    path("relationships/<str:relationship_id>/", knowledge.relationship, name="relationship"),
    path("recall/", knowledge.recall, name="recall"),
    path("profile/", choose_profile, name="choose-profile"),
]
