"""The reviewer's answer: literal names and values, and every relation that a pattern saw ("Memory Write Pipeline", extraction)."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import regex

from densemem.core import limits
from densemem.providers.rules import dates, gates, mentions
from densemem.providers.rules.bundle import Bundle, Draft
from densemem.providers.rules.patterns import wordings
from densemem.providers.rules.proposals import proposed, resolve_mentions
from densemem.providers.rules.reader import read
from densemem.providers.rules.shapes import Finding, Gate, Mention
from densemem.providers.rules.slots import SLOTS, Slots

_PLANNING = regex.compile(
    r"\b(?:will|would|should|shall|must|plans?|planned|planning|propos\w+|intends?|intended|wants?|wanted|wishes|hopes?|let['’]s|going to|todo|roadmap|to do|next (?:week|month|year))\b",
    regex.IGNORECASE,
)
_PHRASE = regex.compile(r"\s(\p{Ll}+(?:\s\p{Ll}+){0,2})\s(?:the\s)?")


def review(request: Mapping[str, Any]) -> dict[str, Any]:
    """Answer one extraction request.

    :returns: an extraction bundle in the closed shape
    """
    evidence = request["evidence"][0]
    text = evidence["content"]
    proposal = request["proposal"]
    by_entity = resolve_mentions(text, proposal["entities"])
    vouched = mentions.merge([m for group in by_entity.values() for m in group], _known(text, request["known_names"]))
    values = [*dates.find_dates(text), *dates.find_money(text)]
    shaped = [
        mentions.outside(values, find(text)) for find in (mentions.tickets, mentions.described, mentions.capitalised)
    ]
    names = mentions.merge(vouched, *shaped)
    slots = _slots(request["predicates"])
    findings = _read_twice(text, names, slots)
    bundle = Bundle(evidence["evidence_id"], text)
    for mention in (m for group in by_entity.values() for m in group):
        bundle.mention(mention, _own_kind(mention))
    drafts = [_draft(text, finding) for finding in findings]
    drafts = proposed(text, proposal["observations"], by_entity, drafts)
    for draft in [*drafts, *_unknown(text, vouched, drafts)][: limits.OBSERVATIONS]:
        bundle.observation(draft)
    return bundle.answer()


def _known(text: str, known: Iterable[Mapping[str, str]]) -> list[Mention]:
    """Find the names that the team already knows; a name known under two kinds keeps both."""
    kinds: dict[str, set[str]] = {}
    for row in known:
        kinds.setdefault(row["name"], set()).add(row["kind"])
    found: list[Mention] = []
    for name in sorted(kinds, key=lambda n: (-len(n), n)):
        certain = frozenset(kinds[name] - {"other"})
        for start, end in mentions.occurrences(text, name):
            shape, sure = (certain, True) if certain else mentions.kinds_of(name)
            found.append(Mention(start, end, text[start:end], shape, sure))
    return found


def _slots(predicates: Iterable[Mapping[str, Any]]) -> Slots:
    """Keep the predicates that the request offers and that the rules have patterns for."""
    return {
        row["key"]: (frozenset(row["subject_kinds"]), frozenset(row["object_kinds"]))
        for row in predicates
        if row["key"] in SLOTS
    }


def _read_twice(text: str, names: list[Mention], slots: Slots) -> list[Finding]:
    """Read, settle on the kinds that all uses of a name allow, and read again with them."""
    allowed: dict[str, frozenset[str]] = {}
    for finding in read(text, names, slots):
        ends = [(finding.subject, slots[finding.key][0])]
        if isinstance(finding.object, Mention):
            ends.append((finding.object, slots[finding.key][1]))
        for mention, wanted in ends if finding.gate is None else []:
            so_far = allowed.get(mention.surface, mention.kinds)
            allowed[mention.surface] = so_far & wanted or so_far
    narrowed = [name if name.sure else replace(name, kinds=allowed.get(name.surface, name.kinds)) for name in names]
    return read(text, narrowed, slots) if narrowed != names else read(text, names, slots)


def _own_kind(mention: Mention) -> str:
    """Return the kind of a name that nobody uses in a relation."""
    return next(iter(mention.kinds)) if mention.sure and len(mention.kinds) == 1 else "other"


def _draft(text: str, finding: Finding) -> Draft:
    """Turn a finding into a draft with the modality that its failed gate suggests."""
    return Draft(
        subject=finding.subject,
        subject_kind=finding.kinds[0],
        object=finding.object,
        object_kind=finding.kinds[1],
        wording=finding.wording,
        sentence=finding.sentence,
        polarity="-" if finding.negative else "+",
        modality=_modality(text, finding),
        ended=finding.ended,
        valid_from=_whole_day(finding.valid_from),
        valid_to=_whole_day(finding.valid_to),
        scope=finding.scope,
        key=finding.key,
    )


def _modality(text: str, finding: Finding) -> str:
    """Say how the text puts a finding."""
    asked = text[finding.sentence.end - 1] in "?؟？" or text[finding.sentence.start] == "¿"
    if finding.gate is Gate.QUESTION or (finding.gate is not None and asked):
        return "question"
    if finding.gate in (Gate.QUOTED, Gate.CODE):
        return "quoted"
    if finding.gate in (Gate.VETO, Gate.LEAD, Gate.FORM) and _PLANNING.search(
        text, finding.sentence.start, finding.sentence.end
    ):
        return "proposal"
    return "speculation" if finding.gate in (Gate.VETO, Gate.CONTEXT) else "statement"


def _unknown(text: str, vouched: list[Mention], drafts: list[Draft]) -> Iterable[Draft]:
    """Offer "<name> <verb phrase> <name>." with a wording that no pattern knows, so that somebody can register it."""
    known = {wording for group in wordings().values() for wording in group}
    for first, second in zip(vouched, vouched[1:], strict=False):
        phrase = _PHRASE.fullmatch(text, first.end, second.start)
        if not phrase or phrase.group(1) in known or any(d.subject == first or d.object == second for d in drafts):
            continue
        begin = text.rfind("\n", 0, first.start) + 1
        whole = (
            regex.compile(r"(?:The\s)?").fullmatch(text, begin, first.start)
            and text[second.end : second.end + 1] == "."
        )
        if (
            whole
            and not gates.unsettled(text, first.end, second.start)
            and not gates.denied(text, first.end, second.start)
        ):
            if not _finite(phrase.group(1)):
                continue
            yield Draft.plain(first, second, phrase.group(1), begin, second.end + 1)


def _finite(phrase: str) -> bool:
    """Say whether a phrase has the shape of a finite verb: its first word ends in -s or -ed and is no little word."""
    first = phrase.split()[0]
    return len(first) > 3 and first.endswith(("s", "ed")) and first not in {"also", "this", "plus", "versus", "besides"}


def _whole_day(bound: str | None) -> str | None:
    """Return a bound that names a day; a year or a month alone is no bound, and naming its first day would invent one."""
    return bound if bound and len(bound) == len("2026-03-31") else None
