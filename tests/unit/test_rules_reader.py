"""What the offline reviewer states, and what it refuses to state."""

import json
from pathlib import Path

import pytest

from densemem.evals.offline import active_facts, wording_table
from densemem.evals.scoring import ActiveFact
from densemem.providers.rules import Rules
from densemem.providers.rules.patterns import wordings
from densemem.providers.rules.slots import EVENTS, SLOTS

PREDICATES = json.loads((Path(__file__).parents[2] / "relationships" / "predicates.json").read_text(encoding="utf-8"))
KEYS_OF = wording_table(PREDICATES)
NAMES = {
    "Ana Ruiz": "person",
    "Kemal Aksoy": "person",
    "Project Harbor": "project",
    "Ledger": "product",
    "Orbis Pay": "product",
    "PostgreSQL": "technology",
    "Brightwater": "organization",
    "Kelp Systems": "organization",
    "Billing team": "team",
    "rollout plan": "document",
    "周以安": "person",
    "云岭科技": "organization",
    "عمر": "person",
    "شركة فيلورين": "organization",
}


def active(text: str, *, named: bool = True) -> list[ActiveFact]:
    """Return what becomes active of a text, with the names above handed over."""
    found = [
        (name, kind, text.index(name), text.index(name) + len(name)) for name, kind in NAMES.items() if name in text
    ]
    return active_facts(Rules(), text, found if named else [], PREDICATES, KEYS_OF)


def triples(text: str) -> set[tuple[str, str, str]]:
    """Return the active triples of a text."""
    return {(fact.subject, fact.predicate, fact.object) for fact in active(text)}


class TestStatements:
    @pytest.mark.parametrize(
        "text, triple",
        [
            ("Ana Ruiz leads Project Harbor.", ("Ana Ruiz", "leads", "Project Harbor")),
            ("Project Harbor is led by Ana Ruiz.", ("Ana Ruiz", "leads", "Project Harbor")),
            ("Brightwater employs Ana Ruiz.", ("Ana Ruiz", "works_for", "Brightwater")),
            ("Kelp Systems is a subsidiary of Brightwater.", ("Kelp Systems", "subsidiary_of", "Brightwater")),
            ("Brightwater is the parent of Kelp Systems.", ("Kelp Systems", "subsidiary_of", "Brightwater")),
            ("The rollout plan was written by Kemal Aksoy.", ("Kemal Aksoy", "authored", "rollout plan")),
            ("- **Ledger** uses `PostgreSQL`.", ("Ledger", "uses", "PostgreSQL")),
            ("Project Harbor is due on 30 June 2025.", ("Project Harbor", "due_on", "30 June 2025")),
            ("Project Harbor has a budget of 40,000 EUR.", ("Project Harbor", "costs", "40,000 EUR")),
            ("Ledger is at version 3.2.", ("Ledger", "has_version", "3.2")),
            ("Brightwater was founded in 2014.", ("Brightwater", "founded_on", "2014")),
            ("周以安在云岭科技工作。", ("周以安", "works_for", "云岭科技")),
            ("يعمل عمر في شركة فيلورين.", ("عمر", "works_for", "شركة فيلورين")),
        ],
    )
    def test_follow_the_registry_direction(self, text, triple):
        assert triple in triples(text)

    def test_share_a_subject_over_and(self):
        assert triples("Ledger uses PostgreSQL and connects to Orbis Pay.") == {
            ("Ledger", "uses", "PostgreSQL"),
            ("Ledger", "integrates_with", "Orbis Pay"),
        }

    def test_stand_without_a_client(self):
        assert [fact.predicate for fact in active("Ana Ruiz leads Project Harbor.", named=False)] == ["leads"]


class TestTime:
    @pytest.mark.parametrize(
        "text, start, ended",
        [
            ("Ana Ruiz works for Brightwater since 2021.", None, False),
            ("Ana Ruiz worked for Brightwater.", None, True),
            ("Ana Ruiz no longer works for Brightwater.", None, True),
            ("Ana Ruiz used to work for Brightwater.", None, True),
        ],
    )
    def test_closes_a_state_of_the_past(self, text, start, ended):
        (fact,) = active(text)

        assert (fact.predicate, fact.valid_from, fact.ended, fact.polarity) == ("works_for", start, ended, "+")

    def test_dates_an_event(self):
        (fact,) = active("Ana Ruiz joined Brightwater on 4 May 2025.")

        assert (fact.predicate, fact.valid_from, fact.ended) == ("joined", "2025-05-04", False)

    def test_keeps_an_environment_as_scope(self):
        (fact,) = active("In production Ledger uses PostgreSQL.")

        assert fact.scope == "environment=production"


class TestDenial:
    @pytest.mark.parametrize(
        "text", ["Ledger does not use PostgreSQL.", "Ledger doesn't use PostgreSQL.", "Ledger never uses PostgreSQL."]
    )
    def test_is_knowledge_with_the_minus_sign(self, text):
        (fact,) = active(text)

        assert (fact.subject, fact.predicate, fact.object, fact.polarity) == ("Ledger", "uses", "PostgreSQL", "-")


# Their examples hold a thing that only a client or the registry can tell to be a name.
UNSAID = frozenset({"depends_on", "supports", "describes"})
LEADS = """It is not true that |Nobody believes that |If all goes well, |Assuming the vote passes, |We plan that |Maybe |My guess is
|Bob told me |According to Bob, |Legend has it that |Test case: |In the novel, |Scratch that - |Hopefully |Someday |Myth: |Option B: |> """
TAILS = """ (unconfirmed).|, I think.|?|, or so I heard.| in an alternate timeline.|. Please disregard.|. Just kidding.|, not.| on paper.
| unless legal objects.|. Wait, no.|. I made that up.| (joke).|, which is false.|. Citation needed.|. Everything above is fiction.|, hopefully."""
STATEMENTS = (
    "Ana Ruiz leads Project Harbor",
    "Ledger uses PostgreSQL",
    "Kelp Systems is a subsidiary of Brightwater",
    "Ledger is at version 3.2",
)


class TestGates:
    @pytest.mark.parametrize("named", [True, False])
    @pytest.mark.parametrize("statement", STATEMENTS)
    def test_stop_every_lead(self, statement, named):
        texts = [f"{lead.rstrip(chr(10))}{statement}." for lead in LEADS.split("|")]

        assert [text for text in texts if active(text, named=named)] == []

    @pytest.mark.parametrize("named", [True, False])
    @pytest.mark.parametrize("statement", STATEMENTS)
    def test_stop_every_tail(self, statement, named):
        texts = [f"{statement}{tail.rstrip(chr(10))}" for tail in TAILS.split("|")]

        assert [text for text in texts if active(text, named=named)] == []

    @pytest.mark.parametrize(
        "text",
        [
            'The banner still reads "Ana Ruiz leads Project Harbor" and must go.',
            "```\nAna Ruiz leads Project Harbor.\n```",
            "~~Ana Ruiz leads Project Harbor.~~",
            "Rejected ideas:\n- Ana Ruiz leads Project Harbor.",
            "The sample data is made up.\nAna Ruiz leads Project Harbor.",
            "Did Ana Ruiz lead Project Harbor?",
            "Brightwater, a firm beside Kelp Systems, leads Project Harbor.",
            "Kemal Aksoy (the brother of Ana Ruiz) runs a shop for Project Harbor.",
        ],
    )
    def test_stop_what_is_not_the_authors_statement(self, text):
        assert active(text) == []


class TestTables:
    def test_slots_are_those_of_the_registry(self):
        rows = {row["key"]: (frozenset(row["subject_kinds"]), frozenset(row["object_kinds"])) for row in PREDICATES}

        assert rows == SLOTS
        assert {row["key"] for row in PREDICATES if row["kind"] == "event"} == EVENTS

    def test_every_predicate_has_a_wording(self):
        assert wordings().keys() == SLOTS.keys()
        assert all(words and all(len(word) <= 128 for word in words) for words in wordings().values())

    @pytest.mark.parametrize("row", PREDICATES, ids=lambda row: row["key"])
    def test_the_example_of_every_predicate_is_read(self, row):
        found = active_facts(Rules(), row["example"], (), PREDICATES, KEYS_OF)

        assert (row["key"] in {fact.predicate for fact in found}) != (row["key"] in UNSAID)
