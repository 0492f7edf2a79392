"""Check 16 of "Judgments, identity decisions and typed links": what is previewed is what is done, and comes back."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.db.models import Model
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from densemem.audit import audit
from densemem.auth import Principal
from densemem.core.faults import Refused
from entities.models import Entity, ResolutionEvent
from placement.decide import Decided, dispute
from relationships.models import Observation, RelationshipRecord, SupportDecision, Transition
from review.models import Task
from tests.database import counts
from tests.deciding import hold_back, of_source, retracted
from tests.factories import access
from tests.identity import (
    decided,
    lives,
    marries,
    merging,
    previewed,
    report_of,
    rows_in_hashes,
    splitting,
    standing,
    withdrawing,
    works,
)
from tests.said import Fact, say, someone

pytestmark = pytest.mark.django_db
NAMES = ("Mark", "Mark Huang")

Said = tuple[str, str, str, str]  # who is spoken of, what is said, the day when it was seen, what is done with it then

MARK, HUANG = NAMES
SHAPES: dict[str, list[Said]] = {
    "both do the same": [(MARK, "Skiff", "01", ""), (HUANG, "Skiff", "02", "")],
    "one source says it of both": [(MARK, "Yawl", "03", ""), (HUANG, "Yawl", "03", "")],
    "they exclude each other": [(MARK, "Graz", "04", ""), (HUANG, "Porto", "05", "")],
    "forgotten of one": [(MARK, "Ketch", "06", "forgotten")],
    "disputed of one": [(MARK, "Sloop", "07", "disputed")],
    "disputed of one and said of the other": [(HUANG, "Prow", "08", ""), (MARK, "Prow", "09", "disputed")],
    "forgotten of the other": [(HUANG, "Keel", "10", "forgotten"), (MARK, "Keel", "11", "")],
    "of the two themselves": [(MARK, "the other", "12", "")],
    "the same both ways": [(MARK, "Dee", "13", "")],
    "something waits": [(MARK, "Lund", "20", ""), (MARK, "Oslo", "15", "")],
    "one of another kind of source": [(MARK, "Mast", "16", ""), (MARK, "Mast", "17", "")],
}
UNKEYED = "03"  # what a profile says without naming a source is one voice
OPEN = {"something waits"}  # nothing is decided beside it


def fact(name: str, what: str) -> Fact:
    """Return a statement: many at a time, one at a time, both ways, or about the two themselves."""
    if what in ("Graz", "Porto", "Lund", "Oslo"):
        return lives(name, what)
    if what in ("Dee", "the other"):
        return marries(name, what if what == "Dee" else next(n for n in NAMES if n != name))
    return works(name, what)


def tell(who: Principal, said: Said) -> None:
    """Remember a statement, and do with its record what is to be done."""
    name, what, day, then = said
    found = fact(name, what)
    text = f"{found.object} is what {found.subject} {found.predicate}, seen on the {day}."
    keyed = {} if day == UNKEYED else of_source(f"{day} {who.profile_id}")
    say(who, text, found, observed_at=f"2026-05-{day}T00:00:00Z", **keyed)
    row = RelationshipRecord.objects.filter(owner_id=who.profile_id, status="active").order_by("recorded_at").last()
    if row is not None and then == "forgotten":
        retracted(who, row)
    elif row is not None and then == "disputed":
        hold_back(dispute, who, row)


def since(model: type[Model], before: set[Any], **fields: Any) -> list[Any]:
    return list(model._default_manager.filter(**fields).exclude(pk__in=before))


def ids(model: type[Model]) -> set[Any]:
    return set(model._default_manager.values_list("pk", flat=True))


def does_what_it_shows(who: Principal, other: Principal, body: dict[str, Any]) -> Decided | None:
    """Preview, compare with what is stored by it, and return what was done; None for what is refused, both ways."""
    before, others = counts(), rows_in_hashes(other)
    impact = previewed(who, body)
    assert counts() == before
    if impact.refusal:
        with pytest.raises(Refused) as refused:
            decided(who, body, token="1.x")
        assert refused.value.code == impact.refusal
        assert counts() == before
        return None
    tasks = ids(Task)
    done = decided(who, body, token=impact.token)
    number = done.identity_id
    moved = SupportDecision.objects.filter(identity_id=number)
    mentions = ResolutionEvent.objects.filter(identity_id=number)
    assert done.changes == impact.changes
    assert {c.relationship_id for c in done.changes} == {
        s.relationship_id for s in Transition.objects.filter(identity_id=number)
    }
    assert impact.supports_moved == moved.filter(action="reinstate" if body["kind"] == "withdraw" else "grant").count()
    assert impact.questions_opened == len(since(Task, tasks))
    assert impact.mentions_left_open == (mentions.filter(entity=None).count() if body["kind"] == "split" else 0)
    if body["kind"] != "merge":
        assert impact.mentions_attributed == mentions.exclude(entity=None).count()
    assert rows_in_hashes(other) == others
    assert [(c.name, c.differences) for c in audit().checks if c.differences] == []
    return done


@settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(st.sampled_from(sorted(SHAPES)), min_size=3, max_size=5, unique=True),
    st.sampled_from([*sorted(SHAPES), ""]),
    st.booleans(),
    st.integers(0, 7),
)
def test_a_decision_does_what_its_preview_showed_and_its_withdrawal_brings_everything_back(
    mine: Sequence[str], theirs: str, split: bool, mask: int
) -> None:
    team = access.Team()
    ada, bo = someone(team, "Ada"), someone(team, "Bo")
    for said in [(MARK, "Harbor", "18", ""), (HUANG, "Harbor", "19", "")]:
        tell(ada, said)
    for shape in mine:
        for said in SHAPES[shape]:
            tell(ada, said)
    for said in SHAPES.get(theirs, []):
        tell(bo, said)
    one, other = (Entity.objects.get(team=team, names__display=n, names__kind="canonical") for n in NAMES)
    if split:
        seen = Observation.objects.filter(owner_id=ada.profile_id, resolutions__subject_entity=one).distinct()
        listed: list[list[Any]] = [[], []]
        for number, observation in enumerate(seen.order_by("seq")):
            if number == 0 or mask & (1 << (number % 3)):
                listed[number % 2].append(observation.id)
        body = splitting(one, *(part for part in listed if part))
    else:
        body = merging(other, one, basis=[report_of(ada)])
    before = standing(team.id)

    done = does_what_it_shows(ada, bo, body)

    assert (done is None) == bool(OPEN & set(mine))
    if done is not None and does_what_it_shows(ada, bo, withdrawing(done.identity_id)):
        assert standing(team.id) == before
