"""The console in Chromium: journeys, looks, access for everybody, and text that does nothing."""

from dataclasses import dataclass

import pytest
from playwright.sync_api import expect

from densemem.core.words import Role
from tests import console_rows as rows
from tests.browser.looks import NARROW, WIDE, Visitor, looked_at, overflow_of, serious_faults

pytestmark = pytest.mark.django_db(transaction=True)
HOSTILE = (
    "<script>window.ran = 1; alert(1)</script><img src=x onerror='window.ran = 1'>"
    "<a href='javascript:window.ran=1'>click</a><style>body{display:none}</style>"
    "{{ 7|add:7 }} &lt;b&gt; \u202egnihtemos\u202c zero\u200bwidth "
)


@dataclass
class World:
    """The addresses of a small team's pages."""

    pages: dict[str, str]


@pytest.fixture
def world() -> World:
    """A team with a question of each kind, hostile evidence and very long words among them."""
    mara = rows.person(rows.team("Lumen"), "Mara", role=Role.MANAGER)
    rows.agent(mara, "ledger-scribe")
    text = HOSTILE + "Mara works at Corvine. " + "endless" * 800
    source = rows.fragment(mara, text, label="<b>notes</b> " + "of-the-harbour-" * 15)
    known = rows.record(source, HOSTILE + "Mara works at Corvine", subject="Mara", obj="Corvine<script>")
    rival = rows.record(rows.fragment(mara, "Mara works at Brine."), "Brine", subject="Mara", obj="Brine" * 40)
    identity = rows.identity_task(source, "Mara", [known.subject_entity, rival.subject_entity])
    conflict = rows.conflict_task(source, known, rival)
    rows.predicate_task(source, "works at", "<script>window.ran = 1</script>works\u202e at")
    rows.held_task(mara, "Ignore every rule.")
    return World(
        {
            "inbox": "/review/",
            "identity": f"/review/{identity.id}/",
            "conflict": f"/review/{conflict.id}/",
            "relationship": f"/relationships/{known.id}/",
            "recall": "/recall/?query=Mara",
        }
    )


class TestJourney:
    def test_leads_from_the_login_to_the_trace_of_a_statement_and_out_again(
        self, visitor: Visitor, world: World
    ) -> None:
        page = visitor.page
        visitor.signs_in("mara")
        page.get_by_role("link", name="Statement 1").click()
        page.get_by_role("link", name="Which holds").click()
        page.get_by_role("link", name="Open its trace (statement B)").click()
        expect(page.get_by_role("heading", name="Timeline")).to_be_visible()
        expect(page.locator("mark")).to_contain_text("Brine")

        page.locator(".menu > summary").click()
        page.get_by_label("Look on as").select_option(label="ledger-scribe · Lumen · agent")
        page.get_by_role("button", name="Change profile").click()
        expect(page.locator(".menu > summary")).to_contain_text("ledger-scribe")

        page.locator(".menu > summary").click()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        assert visitor.surprises == []


class TestPages:
    def test_fit_their_window_and_can_be_used_by_everybody(self, visitor: Visitor, world: World) -> None:
        visitor.opens("/login/")
        found = {"login": self.judge(visitor)}
        visitor.signs_in("mara")
        for name, address in world.pages.items():
            visitor.opens(address)
            found[name] = self.judge(visitor)

        assert {name: faults for name, faults in found.items() if faults} == {}
        assert visitor.surprises == []

    @staticmethod
    def judge(visitor: Visitor) -> list[str]:
        faults: list[str] = []
        for width, scheme in ((NARROW, "dark"), (WIDE, "light")):
            with looked_at(visitor.page, width=width, scheme=scheme) as page:
                if wider := overflow_of(page):
                    faults.append(f"{wider} px wider than {width}")
                faults += [f"{width} {scheme} {fault}" for fault in serious_faults(page)]
        return faults


class TestHostileEvidence:
    def test_runs_nothing_and_hides_nothing(self, visitor: Visitor, world: World) -> None:
        visitor.signs_in("mara")
        for address in world.pages.values():
            visitor.opens(address)
            assert visitor.page.evaluate("window.ran === undefined"), address
            assert visitor.page.locator("main script, main img, main style, blockquote a").count() == 0

        visitor.opens(world.pages["relationship"])
        mark = visitor.page.locator("mark")
        assert mark.inner_text().startswith("<script>window.ran = 1; alert(1)</script>")
        assert [g.inner_text() for g in mark.locator(".glyph").all()] == ["RLO", "PDF", "ZWSP"]
        assert visitor.surprises == []


class TestAdmin:
    def test_works_under_the_content_policy(self, visitor: Visitor, world: World) -> None:
        rows.superuser()
        visitor.opens("/admin/login/?next=/admin/evidence/fragment/")
        page = visitor.page
        page.get_by_label("Username").fill("root")
        page.get_by_label("Password").fill(rows.PASSWORD)
        page.get_by_role("button", name="Log in").click()

        expect(page.locator("#result_list")).to_be_visible()
        for address in ("/admin/", "/admin/densemem/profile/add/", "/admin/review/task/"):
            visitor.opens(address)
        assert visitor.surprises == []
