"""The views: each calls its use case once and gives plain rows to its template."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from densemem.console import console_page


@console_page
def relationship(request: HttpRequest, relationship_id: str) -> HttpResponse:
    return render(request, "relationships/relationship.html", {})


@console_page
def recall(request: HttpRequest) -> HttpResponse:
    return render(request, "relationships/recall.html", {"here": "recall"})
