"""Accepted answers that are kept and taken up again: whole when work was interrupted, in part when a person decided."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import TypeAdapter

from placement.contract.extraction import Extraction
from placement.contract.verification import Verification

EXTRACTIONS: Final = TypeAdapter(Extraction)
VERIFICATIONS: Final = TypeAdapter(Verification)


def packed(answer: Extraction | Verification) -> dict[str, Any]:
    """Return an accepted answer as JSON values."""
    adapter: TypeAdapter[Any] = EXTRACTIONS if isinstance(answer, Extraction) else VERIFICATIONS
    found: dict[str, Any] = adapter.dump_python(answer, mode="json")
    return found


def unpacked_extraction(payload: Mapping[str, Any]) -> Extraction:
    """Return the extraction that was packed."""
    return EXTRACTIONS.validate_python(payload)


def unpacked_verification(payload: Mapping[str, Any]) -> Verification:
    """Return the verification that was packed."""
    return VERIFICATIONS.validate_python(payload)


def narrowed(extraction: Extraction, refs: Collection[str]) -> Extraction:
    """Return the part of an extraction that these observations need: them, their mentions and their values."""
    drafts = tuple(d for d in extraction.observations if d.ref in refs)
    cited = {r for d in drafts for r in (d.subject_ref, d.object_ref, d.value_ref) if r}
    return replace(
        extraction,
        observations=drafts,
        mentions=tuple(m for m in extraction.mentions if m.ref in cited),
        values=tuple(v for v in extraction.values if v.ref in cited),
    )


def within(extraction: Extraction, spans: Collection[tuple[int, int]]) -> Extraction:
    """Return the part of an extraction whose every citation lies inside one of these spans."""
    inside = {
        d.ref
        for d in extraction.observations
        if all(any(start <= s and e <= end for start, end in spans) for s, e in d.spans)
    }
    return narrowed(extraction, inside)


def latest(answers: Iterable[Verification]) -> Verification:
    """Return, for each ref, the newest of several answers about one extraction, given oldest first."""
    found = Verification(signals=(), entities={}, observations={})
    for answer in answers:
        found = replace(
            found,
            entities={**found.entities, **answer.entities},
            observations={**found.observations, **answer.observations},
        )
    return found
