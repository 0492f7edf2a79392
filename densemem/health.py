"""Whether the service is alive, and whether it can work."""

from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse


def alive(request: HttpRequest) -> JsonResponse:
    """`GET /healthz`: the process answers."""
    return JsonResponse({"status": "alive"})


def ready(request: HttpRequest) -> JsonResponse:
    """`GET /readyz`: the database answers too; 503 while it does not."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"status": "waiting for the database"}, status=503, headers={"Retry-After": "2"})
    return JsonResponse({"status": "ready"})
