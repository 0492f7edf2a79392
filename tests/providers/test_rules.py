"""The offline reviewer keeps the promises of all providers."""

import pytest

from densemem.providers.base import Provider
from tests.providers.contract import ProviderContract


class TestRules(ProviderContract):
    """Rules."""

    @pytest.fixture
    def provider(self) -> Provider:
        from densemem.providers.rules import Rules

        return Rules()
