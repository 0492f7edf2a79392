"""What a visitor does in a browser, and how a page is judged."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.console_rows import PASSWORD

WIDE, NARROW = 1440, 320
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Visitor:
    """Somebody at the browser. `surprises` holds dialogs, errors of scripts and refusals by the content policy."""

    def __init__(self, page: Page, origin: str) -> None:
        self.page = page
        self.origin = origin
        self.surprises: list[str] = []
        page.on("dialog", self._dialog)
        page.on("pageerror", lambda error: self.surprises.append(str(error)))
        page.on("console", self._console)

    def opens(self, address: str) -> None:
        """Go to an address of the live server."""
        self.page.goto(self.origin + address)

    def signs_in(self, login: str) -> None:
        """Sign in by the form."""
        self.opens("/login/")
        self.page.get_by_label("Login").fill(login)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url("**/review/")

    def _dialog(self, dialog: Any) -> None:
        self.surprises.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, message: Any) -> None:
        if message.type == "error":
            self.surprises.append(message.text)


@contextmanager
def looked_at(page: Page, *, width: int, scheme: Any) -> Iterator[Page]:
    """Show the page at a width and in a colour scheme."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # no colour on its way to another
    yield page


def overflow_of(page: Page) -> int:
    """Return by how many pixels the page is wider than its window."""
    return int(page.evaluate(OVERFLOW))


def serious_faults(page: Page) -> list[str]:
    """Return what axe finds serious or critical, each with the place."""
    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']}: {node['html'][:200]}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]
