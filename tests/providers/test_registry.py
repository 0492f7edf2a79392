"""The settings choose the provider."""

from collections.abc import Iterator

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django.fixtures import Settings

from densemem.providers import registry
from tests.providers import messages_server as server
from tests.providers.contract import NOTHING_FOUND, reviewer_call


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    registry.provider.cache_clear()
    yield
    registry.provider.cache_clear()


class TestProvider:
    """registry.provider."""

    @pytest.mark.parametrize("name", ["anthropic", "rules", "scripted"])
    def test_is_the_one_that_the_settings_name(self, settings: Settings, name: str) -> None:
        settings.DENSEMEM_PROVIDER, settings.ANTHROPIC_API_KEY = name, "key"

        assert registry.provider().name == name

    def test_is_made_once(self, settings: Settings) -> None:
        settings.DENSEMEM_PROVIDER = "scripted"

        assert registry.provider() is registry.provider()

    @pytest.mark.parametrize("name", ["other", "anthropic", ""])
    def test_refuses_an_unknown_name_or_a_missing_key(self, settings: Settings, name: str) -> None:
        settings.DENSEMEM_PROVIDER, settings.ANTHROPIC_API_KEY = name, ""

        with pytest.raises(ImproperlyConfigured, match="DENSEMEM_PROVIDER"):
            registry.provider()

    def test_asks_where_the_settings_say(self, settings: Settings) -> None:
        with server.serving(server.says(NOTHING_FOUND)) as local:
            settings.DENSEMEM_PROVIDER, settings.ANTHROPIC_API_KEY = "anthropic", "key-9"
            settings.ANTHROPIC_BASE_URL, settings.ANTHROPIC_MODEL = f"{local.url}/gateway", "model-9"

            answer = registry.provider().complete(reviewer_call())

        assert answer.text == NOTHING_FOUND
        (seen,) = local.requests
        assert (seen.path, seen.body["model"]) == ("/gateway/v1/messages", "model-9")
