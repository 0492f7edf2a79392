"""Chromium for the tests of pages: one browser for the run, clean cookies for each test."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, sync_playwright
from pytest_django.live_server_helper import LiveServer

from tests.browser.looks import Visitor

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """Start Chromium with a profile folder of its own."""
    if not os.access(CHROMIUM, os.X_OK):
        pytest.fail(f"There is no Chromium at {CHROMIUM}. Install it, or name it: CHROMIUM=/path/to/chromium")
    with sync_playwright() as playwright, pytest.MonkeyPatch.context() as patch:
        # Playwright keeps an event loop in this thread; Django would take tests for asynchronous code.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("chromium"), executable_path=CHROMIUM, headless=True, args=ARGUMENTS
        )
        context.set_default_timeout(20_000)
        yield context
        context.close()


@pytest.fixture
def page(chromium: BrowserContext) -> Iterator[Page]:
    """Open a page without cookies."""
    chromium.clear_cookies()
    page = chromium.new_page()
    yield page
    page.close()


@pytest.fixture
def visitor(page: Page, live_server: LiveServer) -> Visitor:
    """Return somebody at the browser, who notes everything that a page should not do."""
    return Visitor(page, live_server.url)
