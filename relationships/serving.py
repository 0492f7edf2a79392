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
from evidence.operations import Passage, note_served
from relationships.queries import groups_of_records
from relationships.recall import Recall, recall
from relationships.search import Claim
from relationships.trace import Trace, get_relationship, trace
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
    _note(principal, claims, now=now)
    return found


def serve_trace(*, principal: Principal, relationship_id: UUID, now: datetime, **page: Any) -> Trace:
    """Answer as `trace` does, with the same parameters and faults, and note what was shown."""
    found = trace(principal=principal, relationship_id=relationship_id, now=now, **page)
    others = [*(r.other for r in found.references.items), *(s.other for s in found.lineage.items)]
    _note(principal, [found.relationship, *others], cited=found.supports.items, now=now)
    return found


def serve_relationship(*, principal: Principal, relationship_id: UUID, now: datetime) -> Claim:
    """Answer as `get_relationship` does, with the same faults, and note what was shown."""
    claim = get_relationship(principal=principal, relationship_id=relationship_id)
    _note(principal, [claim], now=now)
    return claim


def _note(principal: Principal, claims: Sequence[Claim], *, cited: Sequence[Support] = (), now: datetime) -> None:
    """Note the sentences of claims, and the passages that the first one rests on."""
    if not claims:
        return
    groups = groups_of_records(team_id=principal.team_id, record_ids={claim.relationship_id for claim in claims})
    passages = [*_sentences(claims, groups), *_cited(claims[0].relationship_id, cited, groups)]
    note_served(team_id=principal.team_id, profile_id=principal.profile_id, passages=passages, now=now)


def _sentences(claims: Iterable[Claim], groups: Groups) -> Iterator[Passage]:
    """Yield each sentence once; what several records say rests on the sources of all."""
    saying: dict[str, set[UUID]] = defaultdict(set)
    for claim in claims:
        saying[claim.sentence].add(claim.relationship_id)
    for sentence, records in saying.items():
        yield Passage(sentence, False, _all_of(records, groups), frozenset(records))


def _cited(record: UUID, supports: Iterable[Support], groups: Groups) -> Iterator[Passage]:
    """Yield the span of each support that was shown, and the span in its surroundings."""
    for support in supports:
        if shown := support.passage:
            rests = _all_of([record], groups) | {support.source_group_id}
            for text in (shown.marked, shown.before + shown.marked + shown.after):
                yield Passage(text, True, rests, frozenset({record}))


def _all_of(records: Iterable[UUID], groups: Groups) -> frozenset[UUID]:
    return frozenset(group for record in records for group in groups.get(record, ()))
