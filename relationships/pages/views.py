"""The views: each calls its use case once and gives plain rows to its template."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from densemem.console import console_page, principal_of_page
from densemem.core import limits
from densemem.http import read_id
from relationships.pages.traced import arrange
from relationships.recall import RecallRefused
from relationships.serving import serve_recall, serve_trace


@console_page
def relationship(request: HttpRequest, relationship_id: str) -> HttpResponse:
    """Show why the team holds something to be so: the words, the judgments, and everything that happened."""
    caller = principal_of_page(request)
    found = serve_trace(principal=caller, relationship_id=read_id(relationship_id), now=timezone.now())
    return render(request, "relationships/relationship.html", {"traced": arrange(found), "me": caller.profile_id})


@console_page
def recall(request: HttpRequest) -> HttpResponse:
    """Ask what the team knows; the question is in the address."""
    caller, query = principal_of_page(request), request.GET.get("query", "").strip()
    shown: dict[str, Any] = {
        "here": "recall",
        "query": query,
        "most": limits.QUERY_CHARS,
        "me": caller.profile_id,
    }
    if query:
        try:
            shown["answer"] = serve_recall(principal=caller, query=query, now=timezone.now())
        except RecallRefused as refused:
            shown["faults"] = [fault.detail for fault in refused.faults]
    return render(request, "relationships/recall.html", shown, status=422 if "faults" in shown else 200)
