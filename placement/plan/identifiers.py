"""The persistent identifiers that a text gives to what it mentions. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from entities.plan import NewIdentifier
from entities.policy import Stated, stated_at, stated_beside
from placement.contract import Extraction
from placement.plan.given import Given
from placement.plan.proposed import rows_naming

Stateds = Mapping[str, tuple[Stated, ...]]


def stated_identifiers(
    text: str,
    extraction: Extraction,
    proposal: Mapping[str, Any],
    *,
    keys: Mapping[str, str],
    signals: Sequence[tuple[int, int]],
) -> dict[str, tuple[Stated, ...]]:
    """Return, by mention, the identifiers beside it, and those that the client proposes and the text contains.

    :param signals: spans of control text: what overlaps one is no identifier
    """
    found = {m.ref: dict.fromkeys(stated_beside(text, m.end)) for m in extraction.mentions}
    for mention, row in rows_naming(extraction, keys, proposal):
        found[mention.ref] |= dict.fromkeys(_proposed(text, row))
    return {ref: tuple(s for s in stated if not _in_signal(s, signals)) for ref, stated in found.items()}


def new_identifiers(given: Given, entity_of: Mapping[str, UUID]) -> tuple[NewIdentifier, ...]:
    """Return what is kept: what stands for one settled Entity. What two things are said to have is neither's."""
    bearers: dict[Stated, set[UUID | None]] = {}
    for ref, stated in given.identifiers.items():
        for one in stated:
            bearers.setdefault(one, set()).add(entity_of.get(ref))
    return tuple(
        NewIdentifier(entity, one.identifier, one.display, one.start, one.end)
        for one, entities in bearers.items()
        if len(entities) == 1 and (entity := next(iter(entities))) is not None
    )


def _proposed(text: str, row: Mapping[str, Any]) -> Iterator[Stated]:
    for given in row.get("identifiers", []):
        if stated := stated_at(text, given["scheme"], given["value"]):
            yield stated


def _in_signal(stated: Stated, signals: Sequence[tuple[int, int]]) -> bool:
    return any(stated.start < end and start < stated.end for start, end in signals)
