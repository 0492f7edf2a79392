"""The frame of every console page: who looks, as which profile, and what a refusal looks like."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from densemem.auth import Principal, ScopeMissing, principal_of_login, profiles_of_login
from densemem.core.faults import Because, Refused
from densemem.core.words import Scope
from densemem.models import Profile

Page = Callable[..., HttpResponse]


@dataclass(frozen=True, slots=True)
class Console:
    """Who looks at a page: one profile of the login, and the others that it may change to."""

    principal: Principal
    profile: Profile
    profiles: tuple[Profile, ...]

    @property
    def others(self) -> tuple[Profile, ...]:
        """The profiles that the login may change to."""
        return tuple(p for p in self.profiles if p.id != self.profile.id)

    @property
    def powers(self) -> str:
        """Role and scopes in words."""
        return f"{self.principal.role.capitalize()} with {' and '.join(sorted(self.principal.scopes))}"


def console_page(view: Page) -> Page:
    """Let a signed-in profile with the scope `read` in, and answer what a use case refuses by a page.

    The view finds the caller at `request.console`.
    """

    @wraps(view)
    def framed(request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
        try:
            request.console = _console_of(request)  # type: ignore[attr-defined]
            return view(request, *args, **named)
        except ScopeMissing as missing:
            raise PermissionDenied(f"This needs the scope {missing.scope}. Ask a manager for it.") from None
        except Refused as refused:
            raise _as_page(refused) from None

    return login_required(require_GET(framed))


def principal_of_page(request: HttpRequest) -> Principal:
    """Return the caller of a console page."""
    console: Console = request.console  # type: ignore[attr-defined]
    return console.principal


@login_required
@require_POST
def choose_profile(request: HttpRequest) -> HttpResponseRedirect:
    """Look on as another profile of the login.

    :raises PermissionDenied: the login may not act as it
    """
    asked = request.POST.get("profile_id", "")
    if asked not in {str(p.id) for p in profiles_of_login(request.user)}:
        raise PermissionDenied("Your login may not act as this profile.")
    request.session["profile_id"] = asked
    following = request.POST.get("next", "")
    return redirect(following if _is_ours(request, following) else "console:inbox")


def _is_ours(request: HttpRequest, address: str) -> bool:
    hosts = {request.get_host()}
    return url_has_allowed_host_and_scheme(address, allowed_hosts=hosts, require_https=request.is_secure())


def _console_of(request: HttpRequest) -> Console:
    principal = principal_of_login(request)
    if principal is None:
        raise PermissionDenied("Your login has no active profile. Ask a manager of your team for one.")
    principal.require(Scope.READ)
    profiles = tuple(profiles_of_login(request.user))
    profile = next(p for p in profiles if p.id == principal.profile_id)
    return Console(principal, profile, profiles)


def _as_page(refused: Refused) -> Exception:
    if refused.because is Because.MISSING:
        return Http404(refused.detail)
    return PermissionDenied(refused.detail)
