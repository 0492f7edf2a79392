"""What the OpenAPI document says of our doors' keys."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema


class BearerToken(OpenApiAuthenticationExtension):
    """A token of a profile."""

    target_class = "densemem.auth.TokenDoor"
    name = "bearerToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "dm_..."}


class SignedInBrowser(OpenApiAuthenticationExtension):
    """The cookie of a signed-in browser."""

    target_class = "densemem.auth.SessionDoor"
    name = "browserSession"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
