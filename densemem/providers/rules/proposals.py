"""Carry the client's proposal into the bundle: literally found names and values, each observation under its proposal id."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from densemem.providers.rules import dates, mentions, sentences
from densemem.providers.rules.bundle import Draft, only_kind
from densemem.providers.rules.patterns import wordings
from densemem.providers.rules.shapes import Mention, Sentence, Value

Entities = dict[str, list[Mention]]
Place = TypeVar("Place", Mention, Value)


def resolve_mentions(text: str, entities: Iterable[Mapping[str, Any]]) -> Entities:
    """Return the mentions of each proposed entity: its spans, else every literal occurrence of its name and aliases."""
    resolved: Entities = {}
    for entity in entities:
        spans = [
            (span["start"], span["end"]) for span in entity["mentions"] if 0 <= span["start"] < span["end"] <= len(text)
        ]
        if not spans:
            found = [
                place for name in (entity["name"], *entity["aliases"]) for place in mentions.occurrences(text, name)
            ]
            spans = sorted(set(found))
        resolved[entity["ref"]] = mentions.merge(mentions.given(text, spans, entity["kind"]))
    return resolved


def proposed(
    text: str, observations: Iterable[Mapping[str, Any]], entities: Entities, drafts: list[Draft]
) -> list[Draft]:
    """Mark the drafts that realise a proposed observation and add those that no pattern saw."""
    drafts, added = list(drafts), []
    for row in observations:
        ends = _ends(text, row, entities)
        if ends is None:
            continue
        place = _realised(row, ends, drafts)
        if place is not None:
            drafts[place] = replace(drafts[place], proposal_id=row["proposal_id"])
        else:
            added.append(_as_proposed(text, row, ends))
    return [*added, *drafts]


def _ends(text: str, row: Mapping[str, Any], entities: Entities) -> tuple[Mention, Mention | Value] | None:
    """Choose the nearest pair of literal ends inside the cited spans; None when one end is not in the text."""
    spans = [(span["start"], span["end"]) for span in row["spans"]]
    subjects = _cited(entities.get(row["subject_ref"], []), spans)
    objects: Sequence[Mention | Value] = (
        _cited(entities.get(row["object_ref"], []), spans)
        if row["object_ref"]
        else _cited(_values(text, row["object_value"]), spans)
    )
    pairs = [(abs(one.start - two.start), one.start, one, two) for one in subjects for two in objects]
    return min(pairs, key=lambda pair: pair[:2])[2:] if pairs else None


def _cited(places: list[Place], spans: list[tuple[int, int]]) -> list[Place]:
    """Keep the places inside a cited span, or all when none is."""
    inside = [place for place in places if any(start <= place.start and place.end <= end for start, end in spans)]
    return inside or places


def _values(text: str, wanted: Mapping[str, Any] | None) -> list[Value]:
    """Find the literal places of a proposed value."""
    if not wanted:
        return []
    read = [value for value in (*dates.find_dates(text), *dates.find_money(text)) if value.type == wanted["type"]]
    same = [value for value in read if wanted["value"] in (value.value, value.surface)]
    if same:
        return same
    places = mentions.occurrences(text, wanted["value"])
    return [
        Value(start, end, text[start:end], wanted["type"], wanted["value"], wanted["unit"]) for start, end in places
    ]


def _realised(row: Mapping[str, Any], ends: tuple[Mention, Mention | Value], drafts: list[Draft]) -> int | None:
    """Return the place of the unmarked draft that says what the client proposed."""
    keys = {key for key, words in wordings().items() if row["predicate"].casefold() in words} | {row["predicate"]}
    for place, draft in enumerate(drafts):
        same = (draft.subject.surface, draft.object.surface) == (ends[0].surface, ends[1].surface)
        if (
            draft.proposal_id is None
            and same
            and (draft.key in keys or draft.wording == row["predicate"])
            and draft.polarity == row["polarity"]
        ):
            return place
    return None


def _as_proposed(text: str, row: Mapping[str, Any], ends: tuple[Mention, Mention | Value]) -> Draft:
    """Turn a proposed observation into a draft as the client worded it."""
    subject, object_ = ends
    low, high = min(subject.start, object_.start), max(subject.end, object_.end)
    parts = [part for part in sentences.split(text) if part.end > low and part.start < high]
    kind = only_kind(object_) if isinstance(object_, Mention) else None
    return Draft(
        subject=subject,
        subject_kind=only_kind(subject),
        object=object_,
        object_kind=kind,
        wording=row["predicate"],
        sentence=Sentence(parts[0].start, parts[-1].end),
        polarity=row["polarity"],
        modality=row["modality"],
        valid_from=row["valid_from"],
        valid_to=row["valid_to"],
        scope=row["scope"],
        proposal_id=row["proposal_id"],
    )
