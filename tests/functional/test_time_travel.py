"""Whatever happened: an answer about a past moment is the one that was given then, and the replay of the ledgers."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from densemem.audit.replayed import histories
from densemem.auth import Principal
from densemem.models import Team
from evidence.models import Quarantine, Source
from relationships.models import EvidenceSupport, RelationshipRecord
from relationships.policy.replay import replay
from relationships.recall import recall
from relationships.trace import trace
from tests.deciding import GRAZ, PORTO, hold, retracted
from tests.said import say, someone

pytestmark = pytest.mark.django_db

FACTS = {"Graz": GRAZ, "Porto": PORTO}
ACTS = st.sampled_from(["note", "list", "forget", "correct", "hold"])
HISTORIES = st.lists(st.tuples(st.integers(0, 1), ACTS, st.sampled_from(sorted(FACTS))), min_size=2, max_size=4)
WORDS = ("passage", "withheld", "wording", "value", "rationale", "subject", "object", "sentence")


@settings(
    max_examples=8,  # each costs two to four seconds, most of it traces and placements
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(acts=HISTORIES, look=st.integers(0, 3))
def test_the_past_stays_what_it_was(db: None, acts: list[tuple[int, str, str]], look: int) -> None:
    """Recall is asked after each act; a trace costs more, and is asked after one of them."""
    team = Team.objects.create(name=uuid4().hex)
    people, manager = [someone(team, name) for name in ("Ada", "Bo")], someone(team, "Cy", role="manager")
    seen: list[tuple[datetime, dict[Any, Any], dict[Any, Any]]] = []
    for number, (who, act, place) in enumerate(acts):
        DO[act](people[who], manager, place)
        now = timezone.now()
        traces = traced(manager, None) if number == look % len(acts) else {}
        seen.append((now, recalled(manager, now, None), traces))

    held = held_today(team)
    kept = histories(list(RelationshipRecord.objects.of_team(team.id)))
    for moment, answer, traces in seen:
        known = {r: claim for r, claim in answer.items() if r not in held}
        assert {r: c for r, c in recalled(manager, timezone.now(), moment).items() if r not in held} == known
        assert traced(manager, moment, among=traces) == traces
        for record, found in traces.items():
            state = replay(kept[record], until=moment)
            assert state is not None
            claim = found["relationship"]
            assert [claim[c] for c in ("tier", "status", "version", "support_count", "source_group_count")] == [
                state.tier,
                state.status,
                state.version,
                state.support_count,
                state.source_group_count,
            ]
            assert {s["support_id"] for s in found["supports"]["items"] if s["effective"]} == state.counting


def note(who: Principal, _: Principal, place: str) -> None:
    say(who, f"Ivo lives in {place}. {uuid4().hex[:6]}", FACTS[place])


def listed(who: Principal, _: Principal, place: str) -> None:
    """Move the person's own list on to its next revision."""
    source = Source.objects.filter(owner_id=who.profile_id).select_related("current_revision").first()
    before = source.current_revision.token if source and source.current_revision else None
    step = {"source_key": "list", "source_revision": uuid4().hex[:6]}
    if before:
        step["previous_source_revision"] = before
    say(who, f"The list: Ivo lives in {place}. {uuid4().hex[:6]}", FACTS[place], **step)


def forget(who: Principal, _: Principal, place: str) -> None:
    record = RelationshipRecord.objects.filter(owner_id=who.profile_id, status="active").order_by("id").first()
    if record:
        retracted(who, record)


def correct(who: Principal, _: Principal, place: str) -> None:
    record = RelationshipRecord.objects.filter(owner_id=who.profile_id, status="active").order_by("id").first()
    if record:
        relationship = {
            "proposal_id": "fix",
            "subject_ref": "i",
            "predicate": "lives in",
            "object_ref": "o",
            "evidence": [{"evidence_index": 0, "start": 0, "end": 1}],
            "correction_target": {"relationship_id": str(record.id), "expected_version": record.version},
        }
        entities = [{"ref": "i", "name": "Ivo"}, {"ref": "o", "name": place}]
        proposal = {"entities": entities, "relationships": [relationship]}
        say(who, f"I was wrong: Ivo lives in {place}. {uuid4().hex[:6]}", FACTS[place], proposal=proposal)


def held_back(_: Principal, manager: Principal, place: str) -> None:
    support = EvidenceSupport.objects.filter(team_id=manager.team_id).order_by("-seq").first()
    if support and not Quarantine.objects.filter(fragment=support.fragment_id, status="active").exists():
        source = support.fragment.source
        if source is None or source.current_revision_id == support.fragment.revision_id:
            hold(manager, support.fragment_id)


DO: dict[str, Callable[[Principal, Principal, str], None]] = {
    "note": note,
    "list": listed,
    "forget": forget,
    "correct": correct,
    "hold": held_back,
}


def recalled(who: Principal, now: datetime, known_at: datetime | None) -> dict[Any, Any]:
    """Return what recall shows of each record but its words."""
    found = recall(principal=who, query="Ivo", known_at=known_at, now=now)
    return {i.relationship_id: bare(asdict(i)) for g in found.results for i in g.relationships}


def traced(who: Principal, known_at: datetime | None, among: Any = None) -> dict[Any, Any]:
    """Return the trace of each record but its words."""
    records = (
        among if among is not None else RelationshipRecord.objects.of_team(who.team_id).values_list("id", flat=True)
    )
    return {
        r: bare(asdict(trace(principal=who, relationship_id=r, known_at=known_at, limit=100))) for r in list(records)
    }


def bare(told: Any) -> Any:
    """Leave out words, which are those that may be shown today, and the moment that was asked about."""
    if isinstance(told, dict):
        return {name: bare(value) for name, value in told.items() if name not in (*WORDS, "known_at")}
    return [bare(one) for one in told] if isinstance(told, list | tuple) else told


def held_today(team: Team) -> set[Any]:
    """Return the records whose words are held now: recall finds them for no moment."""
    return set(RelationshipRecord.objects.of_team(team.id).filter(status="quarantined").values_list("id", flat=True))
