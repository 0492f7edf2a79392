"""What a browser may do with our pages."""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse

# No script or style of a page itself, nothing from elsewhere: text that slips through as markup stays dead.
POLICY: Final = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)


class ConsoleHeaders:
    """Middleware: a strict Content-Security-Policy on every answer, and no copy of a page in any cache."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.setdefault("Content-Security-Policy", POLICY)
        if response.get("Content-Type", "").startswith("text/html"):
            response.setdefault("Cache-Control", "private, no-store")
        return response
