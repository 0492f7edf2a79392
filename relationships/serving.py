"""Answers as the doors give them: what they show is noted, so that whoever repeats it is no new voice.

Nobody is shown what could not be noted. Source page: "Source Independence And Fact Promotion".
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from densemem.auth import Principal
from densemem.core import limits
from densemem.paging import Page
from evidence.operations import Passage, note_served
from evidence.queries import origins_of, sources_of
from relationships.queries import origins_of_records
from relationships.recall import Recall, recall
from relationships.search import Claim
from relationships.trace import Trace, get_relationship, trace
from relationships.trace.cases import ConflictCaseView
from relationships.trace.conflicts import ConflictCaseWhole, get_conflict, list_conflicts
from relationships.trace.shapes import Support

Groups = Mapping[UUID, set[UUID]]


def serve_recall(
    *,
    principal: Principal,
    query: str,
    limit: int = limits.RECALL_DEFAULT,
    valid_at: datetime | None = None,
    known_at: datetime | None = None,
    now: datetime,
) -> Recall:
    """Answer a question as `recall` does, with the same faults, and note what was shown."""
    found = recall(principal=principal, query=query, limit=limit, valid_at=valid_at, known_at=known_at, now=now)
    positions = [position for conflict in found.conflicts for position in conflict.positions]
    claims: list[Claim] = [claim for group in found.results for claim in group.relationships]
    claims += [claim for position in positions for claim in position.relationships]
    note_shown(principal, claims=claims, now=now)
    return found


def serve_trace(*, principal: Principal, relationship_id: UUID, now: datetime, **page: Any) -> Trace:
    """Answer as `trace` does, with the same parameters and faults, and note what was shown."""
    found = trace(principal=principal, relationship_id=relationship_id, now=now, **page)
    others = [*(r.other for r in found.references.items), *(s.other for s in found.lineage.items)]
    note_shown(principal, claims=[found.relationship, *others], cited=found.supports.items, now=now)
    return found


def serve_relationship(*, principal: Principal, relationship_id: UUID, now: datetime) -> Claim:
    """Answer as `get_relationship` does, with the same faults, and note what was shown."""
    claim = get_relationship(principal=principal, relationship_id=relationship_id)
    note_shown(principal, claims=[claim], now=now)
    return claim


def serve_conflicts(*, principal: Principal, now: datetime, **page: Any) -> Page[ConflictCaseView]:
    """Answer as `list_conflicts` does, with the same parameters and faults, and note what was shown."""
    found = list_conflicts(principal=principal, **page)
    note_shown(principal, claims=_in_cases(found.rows), now=now)
    return found


def serve_conflict(*, principal: Principal, conflict_id: UUID, now: datetime) -> ConflictCaseWhole:
    """Answer as `get_conflict` does, with the same faults, and note what was shown."""
    found = get_conflict(principal=principal, conflict_id=conflict_id)
    note_shown(principal, claims=_in_cases([found]), now=now)
    return found


def note_shown(
    principal: Principal,
    *,
    claims: Sequence[Claim] = (),
    cited: Sequence[Support] = (),
    quoted: Iterable[tuple[UUID, str]] = (),
    now: datetime,
) -> None:
    """Note the sentences of claims, the passages that the first one rests on, and (fragment, words) of evidence."""
    team_id, words = principal.team_id, list(dict.fromkeys(quoted))
    if not claims and not words:
        return
    of = origins_of_records(team_id=team_id, record_ids={c.relationship_id for c in claims}) if claims else {}
    texts = sources_of(team_id=team_id, fragment_ids={fragment for fragment, _ in words}) if words else {}
    said = {(s.evidence.fragment_id, s.source_group_id) for s in cited} | set(texts.items())
    origins = origins_of(team_id=team_id, said=said)
    passages = [
        *_sentences(claims, of),
        *(passage for s in cited for passage in _cited(claims[0].relationship_id, s, origins)),
        *(Passage(text, True, frozenset(origins.get(fragment, ())), frozenset()) for fragment, text in words),
    ]
    note_served(team_id=team_id, profile_id=principal.profile_id, passages=passages, now=now)


def _in_cases(cases: Iterable[ConflictCaseView]) -> list[Claim]:
    return [claim for case in cases for position in case.positions for claim in position.relationships]


def _sentences(claims: Iterable[Claim], origins: Groups) -> Iterator[Passage]:
    """Yield each sentence once; what several records say rests on the sources of all."""
    saying: dict[str, set[UUID]] = defaultdict(set)
    for claim in claims:
        saying[claim.sentence].add(claim.relationship_id)
    for sentence, records in saying.items():
        rests = frozenset(group for record in records for group in origins.get(record, ()))
        yield Passage(sentence, False, rests, frozenset(records))


def _cited(record: UUID, support: Support, origins: Groups) -> Iterator[Passage]:
    """Yield the span of a support that was shown, and the span in its surroundings: words of that text alone."""
    if shown := support.passage:
        for text in (shown.marked, shown.before + shown.marked + shown.after):
            yield Passage(text, True, frozenset(origins[support.evidence.fragment_id]), frozenset({record}))
