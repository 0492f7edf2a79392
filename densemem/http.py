"""What every HTTP door shares: request ids, strict JSON, and errors as problem+json (RFC 9457)."""

import json
import logging
import math
import re
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NoReturn
from uuid import UUID

from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from rest_framework import exceptions
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from densemem.auth import ScopeMissing
from densemem.core import limits
from densemem.core.faults import Fault, NotThere, Refused
from densemem.core.ids import uuid7

log = logging.getLogger(__name__)
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
PROBLEM = "application/problem+json"


class Problem(Exception):
    """An error that a caller can act on.

    :param status: the HTTP status
    :param code: one word, stable
    :param detail: a sentence: what is wrong and what to do
    :param faults: the places, all at once
    :param headers: such as Retry-After
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        faults: Sequence[Fault] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.faults = tuple(faults)
        self.headers = dict(headers or {})

    def body(self, *, instance: str = "", request_id: str = "") -> dict[str, Any]:
        """Return the problem document."""
        document: dict[str, Any] = {
            "type": f"urn:densemem:problem:{self.code}",
            "title": self.code.replace("_", " ").capitalize(),
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "instance": instance,
            "request_id": request_id,
        }
        if self.faults:
            document["errors"] = [f.as_dict() for f in self.faults]
        return document


def read_id(text: str) -> UUID:
    """Read an id from a path.

    :raises NotThere: for anything that is no UUID: a door never tells shapes of ids apart
    """
    try:
        return UUID(text)
    except ValueError:
        raise NotThere from None


class ParametersInvalid(Refused):
    """The query parameters of a request are not as they must be; every fault is listed."""

    code = "invalid_request"


def read_parameters(request: Request, *, known: Collection[str]) -> tuple[dict[str, str], list[Fault]]:
    """Return the query parameters by name, and a fault for each that is unknown or sent twice."""
    sent = request.query_params
    faults = [Fault(f"/{name}", "unknown", "There is no such parameter.") for name in sent if name not in known]
    faults += [Fault(f"/{name}", "repeated", "Send it once.") for name in sent if len(sent.getlist(name)) > 1]
    return {name: sent[name] for name in known if name in sent}, faults


def read_choice(given: Mapping[str, str], name: str, words: Collection[str], faults: list[Fault]) -> str | None:
    """Return the word of a closed set that a parameter names, None without the parameter; or add a fault."""
    if name in given and given[name] not in set(words):
        faults.append(Fault(f"/{name}", "unknown_word", f"Choose one of: {', '.join(words)}."))
        return None
    return given.get(name)


def read_flag(given: Mapping[str, str], name: str, faults: list[Fault]) -> bool:
    """Return whether a parameter is `true`, False without it; or add a fault."""
    word = given.get(name, "false")
    if word not in ("true", "false"):
        faults.append(Fault(f"/{name}", "unknown_word", "Choose one of: true, false."))
    return word == "true"


def refuse(faults: Collection[Fault]) -> None:
    """Refuse a request whose parameters have faults.

    :raises ParametersInvalid: with all of them
    """
    if faults:
        raise ParametersInvalid("The parameters are not as they must be.", faults=tuple(faults))


def has_seen(header: str, tag: str) -> bool:
    """Tell if `If-None-Match` names the tag; weak tags count, as RFC 9110 has it for reads."""
    tags = {part.strip().removeprefix("W/") for part in header.split(",")}
    return tag in tags or header.strip() == "*"


def problem_of(refused: Refused) -> Problem:
    """Return the problem that says what a use case refused."""
    return Problem(refused.because.value, refused.code, refused.detail, faults=refused.faults)


def as_problem(error: Exception) -> Problem | None:
    """Translate what the doors expect to be raised; None for a fault of our own."""
    match error:
        case Problem():
            return error
        case Refused():
            return problem_of(error)
        case ScopeMissing():
            detail = f"This needs the scope {error.scope!r}. Ask a manager of your team for it."
            return Problem(403, "scope_missing", detail)
        case Http404():
            return problem_of(NotThere())
        case OperationalError() | InterfaceError():
            detail = "The database does not answer. Nothing was stored halfway. Try again."
            return Problem(503, "database_unavailable", detail, headers={"Retry-After": "2"})
        case exceptions.APIException():
            return _framework_problem(error)
    return None


def _framework_problem(error: exceptions.APIException) -> Problem:
    match error:
        case exceptions.UnsupportedMediaType():
            return Problem(415, "unsupported_media_type", "Send the body as application/json.")
        case exceptions.Throttled():
            headers = {"Retry-After": str(int(getattr(error, "wait", None) or 1))}
            return Problem(429, "too_many_requests", str(error.detail), headers=headers)
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            detail = "Send a valid token: Authorization: Bearer dm_..."
            return Problem(401, "not_authenticated", detail, headers={"WWW-Authenticate": "Bearer"})
    return Problem(error.status_code, str(error.default_code), str(error.detail))


def problem_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """Answer an exception inside a REST view; None lets a fault of our own become a plain 500 problem."""
    from rest_framework.views import set_rollback  # views read settings that name this module

    problem = as_problem(error)
    if problem is None:
        return None
    set_rollback()
    request = context["request"]
    body = problem.body(instance=request.path, request_id=getattr(request, "request_id", ""))
    return Response(body, status=problem.status, headers=problem.headers, content_type=PROBLEM)


class RequestFrame:
    """Middleware: gives each request an id, and turns faults under /api/ into problems instead of HTML."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        asked = request.headers.get("X-Request-ID", "")
        request_id = asked if REQUEST_ID.fullmatch(asked) else uuid7().hex
        request.request_id = request_id  # type: ignore[attr-defined]
        response = self.get_response(request)
        response["X-Request-ID"] = request_id
        if request.path.startswith("/api/"):
            response.setdefault("Cache-Control", "no-store")
            response = self._problem_page(request, response)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answer a lost database with 503 on every page; log anything else by type and id, never with its text."""
        problem = as_problem(error)
        request_id = getattr(request, "request_id", "")
        if problem is None and request.path.startswith("/api/"):
            # The message of an error may quote evidence: the log gets its type and its frames.
            frames = "".join(traceback.format_tb(error.__traceback__))
            log.error("unexpected %s in request %s\n%s", type(error).__name__, request_id, frames)
            detail = "This is our fault. Nothing was stored halfway. Quote the request id."
            problem = Problem(500, "internal_error", detail)
        if problem is None or isinstance(error, Http404):
            return None
        return _respond(problem, request)

    def _problem_page(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Replace Django's HTML for an unknown address or method under /api/."""
        if response.status_code == 404 and response.get("Content-Type", "").startswith("text/html"):
            return _respond(problem_of(NotThere()), request)
        return response


def _respond(problem: Problem, request: HttpRequest) -> JsonResponse:
    request_id = getattr(request, "request_id", "")
    body = problem.body(instance=request.path, request_id=request_id)
    response = JsonResponse(body, status=problem.status, content_type=PROBLEM)
    for name, value in {**problem.headers, "X-Request-ID": request_id, "Cache-Control": "no-store"}.items():
        response[name] = value
    return response


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is out of range")
    return number


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice in one object")
    return found


def read_json(body: bytes) -> Any:
    """Parse strict JSON: UTF-8, no duplicate names, no NaN, bounded in size and depth.

    :raises Problem: 413 or 400
    """
    if len(body) > limits.BODY_BYTES:
        raise Problem(413, "body_too_large", f"The body may have at most {limits.BODY_BYTES} bytes.")
    try:
        return json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_no_duplicates,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Problem(400, "malformed_json", f"The body is not valid JSON: {reason}.") from None


class StrictJSONParser(BaseParser):
    """JSON without guesses."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        return read_json(stream.read(limits.BODY_BYTES + 1))


def read_prefer(header: str) -> float:
    """Read the seconds of `Prefer: wait=N` (RFC 7240); more than the limit means the limit, nonsense means none."""
    found = re.search(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,6})", header)
    return min(float(found.group(1)), limits.WAIT_SECONDS) if found else 0.0
