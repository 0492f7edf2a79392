"""Build the extraction bundle: references, quotes with their occurrence, and nothing that is not in the text."""

from dataclasses import dataclass
from typing import Any, Self

from densemem.core import limits
from densemem.providers.rules.shapes import Mention, Sentence, Value


@dataclass(frozen=True, slots=True)
class Draft:
    """One observation before it gets references; `key` is None when no pattern stands behind it."""

    subject: Mention
    subject_kind: str
    object: Mention | Value
    object_kind: str | None
    wording: str
    sentence: Sentence
    polarity: str = "+"
    modality: str = "statement"
    ended: bool = False
    valid_from: str | None = None
    valid_to: str | None = None
    scope: str | None = None
    key: str | None = None
    proposal_id: str | None = None

    @classmethod
    def plain(cls, subject: Mention, object_: Mention, wording: str, start: int, end: int) -> Self:
        """Make a draft between two vouched names."""
        return cls(subject, only_kind(subject), object_, only_kind(object_), wording, Sentence(start, end))


def only_kind(mention: Mention) -> str:
    """Return the one vouched kind of a name, else `other`."""
    return next(iter(mention.kinds)) if mention.sure and len(mention.kinds) == 1 else "other"


def occurrence(text: str, quote: str, start: int) -> int | None:
    """Return which occurrence of the quote starts here, counted from 1, or None when there is only one."""
    places, at = [], text.find(quote)
    while at >= 0:
        places.append(at)
        at = text.find(quote, at + 1)
    return None if len(places) < 2 else places.index(start) + 1


class Bundle:
    """Collects mentions, values and observations of one evidence item."""

    def __init__(self, evidence_id: str, text: str) -> None:
        self._evidence_id, self._text = evidence_id, text
        self._mentions: dict[int, dict[str, Any]] = {}
        self._values: dict[tuple[int, int, str], dict[str, Any]] = {}
        self._observations: list[dict[str, Any]] = []

    def mention(self, mention: Mention, kind: str) -> str:
        """Add a name once and return its reference; a kind that says more replaces `other`."""
        row = self._mentions.get(mention.start)
        if row is None:
            row = self._quoted(f"m{len(self._mentions) + 1}", mention.start, mention.surface) | {"kind": kind}
            self._mentions[mention.start] = row
        elif row["kind"] == "other":
            row["kind"] = kind
        return str(row["ref"])

    def value(self, value: Value) -> str:
        """Add a value once and return its reference."""
        place = (value.start, value.end, value.type)
        if place not in self._values:
            row = self._quoted(f"v{len(self._values) + 1}", value.start, value.surface)
            self._values[place] = row | {"type": value.type, "value": value.value, "unit": value.unit}
        return str(self._values[place]["ref"])

    def observation(self, draft: Draft) -> None:
        """Add a draft unless the answer is full."""
        if len(self._mentions) + 2 > limits.MENTIONS:
            return
        entity = isinstance(draft.object, Mention)
        quote = self._text[draft.sentence.start : draft.sentence.end]
        subject = self.mention(draft.subject, draft.subject_kind)
        object_ = (
            self.mention(draft.object, draft.object_kind or "other")
            if isinstance(draft.object, Mention)
            else self.value(draft.object)
        )
        self._observations.append(
            {
                "ref": f"o{len(self._observations) + 1}",
                "evidence_id": self._evidence_id,
                "subject_ref": subject,
                "predicate": draft.wording,
                "object_ref": object_ if entity else None,
                "value_ref": None if entity else object_,
                "polarity": draft.polarity,
                "modality": draft.modality,
                "ended": draft.ended,
                "valid_from": draft.valid_from,
                "valid_to": draft.valid_to,
                "scope": draft.scope,
                "proposal_id": draft.proposal_id,
                "quotes": [{"quote": quote, "occurrence": occurrence(self._text, quote, draft.sentence.start)}],
            }
        )

    def _quoted(self, ref: str, start: int, quote: str) -> dict[str, Any]:
        """Make the common part of a mention or value."""
        return {
            "ref": ref,
            "evidence_id": self._evidence_id,
            "quote": quote,
            "occurrence": occurrence(self._text, quote, start),
        }

    def answer(self) -> dict[str, Any]:
        """Return the whole bundle."""
        return {
            "security_signals": [],
            "mentions": list(self._mentions.values()),
            "values": list(self._values.values()),
            "observations": self._observations,
        }
