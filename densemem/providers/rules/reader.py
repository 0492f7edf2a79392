"""Read one text: find every relation that a pattern sees between its names, and the first gate each one fails."""

from dataclasses import replace

import regex

from densemem.providers.rules import dates, gates, sentences
from densemem.providers.rules.forms import Form
from densemem.providers.rules.index import fitting, pair_index, slot_index
from densemem.providers.rules.lexicon import ROLE_HEADS
from densemem.providers.rules.mentions import ANY, looks_like_person
from densemem.providers.rules.shapes import Finding, Gate, Mention, Sentence, Value
from densemem.providers.rules.slots import EVENTS, Slots

_ASIDE = regex.compile(
    r"\s*\([^()]{1,80}\)(?=[\s,])|,\s(?:an?|the|now|then|formerly|son|daughter|based|born|located|founded|headquartered|known|Inc|LLC|Ltd)\b[^;:()\"“]{0,110}?,(?=\s\p{Ll})"
)
_PREFERENCE = (
    "person",
    "product",
    "organization",
    "project",
    "technology",
    "place",
    "event",
    "document",
    "concept",
    "team",
)
_OPENING_MARKS, _CLOSING_MARKS = frozenset('"“„«`‘'), frozenset('"”“»`’')
_WORD_LIMIT = 26


def read(text: str, names: list[Mention], slots: Slots) -> list[Finding]:
    """Return all findings in text order.

    :param slots: per predicate key the kinds its subject and its object may have
    """
    parts = sentences.split(text, [(name.start, name.end) for name in names])
    values = [*dates.find_dates(text), *dates.find_money(text)]
    findings: list[Finding] = []
    for index, sentence in enumerate(parts):
        inside = _elements(sentence, names, values)
        if len(inside) or slots:
            findings += _Sentence(text, sentence, parts[index + 1 : index + 3], inside, slots).findings()
    return findings


def _elements(sentence: Sentence, names: list[Mention], values: list[Value]) -> list[Mention | Value]:
    """Return the names and values of one sentence in order; a value inside a name is dropped."""
    within = [name for name in names if sentence.start <= name.start and name.end <= sentence.end]
    free = [
        value
        for value in values
        if sentence.start <= value.start
        and value.end <= sentence.end
        and all(value.end <= name.start or name.end <= value.start for name in within)
    ]
    return sorted([*within, *free], key=lambda element: element.start)


class _Sentence:
    """The reading of one sentence, from left to right, clause after clause."""

    def __init__(
        self, text: str, span: Sentence, following: list[Sentence], elements: list[Mention | Value], slots: Slots
    ) -> None:
        self.text, self.span, self.following, self.elements, self.slots = text, span, following, elements, slots
        self.clauses: dict[int, Mention | None] = {span.start: None}
        self.subject_at: dict[int, Finding] = {}
        self.roles: list[Finding] = []

    def findings(self) -> list[Finding]:
        """Return what the patterns see, each with its gate."""
        found: list[Finding] = []
        for index, first in enumerate(self.elements):
            for second in self.elements[index + 1 : index + 5]:
                found += self._between(first, second)
            if isinstance(first, Mention):
                found += self._texts(first)
            found += self._shared(first)
        return _settle([*found, *self.roles])

    def _between(self, first: Mention | Value, second: Mention | Value) -> list[Finding]:
        """Try every pattern on the gap between two elements, and on the gap behind an aside."""
        text, begin = self.text, first.end
        if text.count(" ", begin, second.start) > _WORD_LIMIT:
            return []
        starts = [begin]
        beside = _ASIDE.match(text, begin, second.start)
        if beside:
            starts.append(beside.end())
        found = []
        for start in starts:
            for form in fitting(pair_index(), text[start : second.start]):
                match = form.gap.fullmatch(text, start, second.start)
                if match and self._framed(form, first, second):
                    found.append(self._judge(form, match, first, second, self._rival(start, second)))
        return [finding for finding in found if finding]

    def _rival(self, start: int, second: Mention | Value) -> bool:
        """Say whether another name stands in the gap itself."""
        return any(
            isinstance(other, Mention) and other.sure and start <= other.start and other.end <= second.start
            for other in self.elements
        )

    def _framed(self, form: Form, first: Mention | Value, second: Mention | Value) -> bool:
        """Check the words that a form wants before and behind the pair."""
        if form.before and not form.before.search(self.text[self.span.start : first.start]):
            return False
        return not form.after or bool(form.after.match(self.text, second.end, self.span.end))

    def _texts(self, first: Mention) -> list[Finding]:
        """Try the patterns that capture a text value behind one name."""
        found = []
        for form in fitting(slot_index(), self.text[first.end : self.span.end]):
            match = form.gap.match(self.text, first.end, self.span.end)
            if match:
                start, end = match.span("v")
                value = Value(
                    start, end, self.text[start:end], form.slot or "text", " ".join(self.text[start:end].split())
                )
                found.append(self._judge(form, match, first, value, False, match.end()))
        return [finding for finding in found if finding]

    def _shared(self, second: Mention | Value) -> list[Finding]:
        """Read "S ... O and <verb> <second>": the earlier subject serves again."""
        found = []
        for end, earlier in list(self.subject_at.items()):
            join = regex.compile(r",?\s+and(?:\s+also)?(?=\s)|,?\s+а(?=\s)|\s+и(?=\s)").match(
                self.text, end, self.span.end
            )
            if not join or join.end() > second.start:
                continue
            for form in fitting(pair_index(), self.text[join.end() : second.start]):
                match = form.gap.fullmatch(self.text, join.end(), second.start)
                if match and not form.loose and self._framed(form, second, second) and not form.before:
                    found.append(self._judge(form, match, _lead_of(earlier), second, False, shared=True))
            found += self._shared_texts(join.end(), _lead_of(earlier), second)
        return [finding for finding in found if finding]

    def _shared_texts(self, start: int, subject: Mention, second: Mention | Value) -> list[Finding | None]:
        """Read "S ... O and <verb> <text>"; `second` only bounds the search."""
        return [
            self._judge(form, match, subject, _text_value(self.text, match, form), False, match.end(), shared=True)
            for form in fitting(slot_index(), self.text[start : self.span.end])
            if (match := form.gap.match(self.text, start, self.span.end))
            and match.start("v") <= second.start < match.end("v")
        ]

    def _judge(
        self,
        form: Form,
        match: "regex.Match[str]",
        first: Mention | Value,
        second: Mention | Value,
        rival: bool,
        end: int | None = None,
        *,
        shared: bool = False,
    ) -> Finding | None:
        """Make a finding of a match and name the first gate it fails."""
        subject, object_ = (second, first) if form.flip else (first, second)
        if not isinstance(subject, Mention) or form.key not in self.slots or subject.surface == object_.surface:
            return None
        kinds = self._kinds(form, subject, object_)
        if kinds is None:
            return None
        wording = form.wording or " ".join(match.group("w").split()).lower()
        close = end or (form.after.match(self.text, second.end, self.span.end).end() if form.after else second.end)
        tail = gates.Tail(self.text, close, self.span.end)
        finding = Finding(
            form.key,
            wording,
            subject,
            object_,
            self.span,
            match.span(),
            tail.end,
            form.negative,
            form.ended,
            kinds=kinds,
        )
        finding = self._dated(finding, first, tail)
        gate = self._first_gate(form, finding, first, rival, tail, shared)
        if gate in (None, Gate.SCOPE):
            self._open_clauses(finding, first)
        if gate is None and tail.role and finding.key == "works_for":
            self._note_role(finding, tail.role)
        return replace(finding, gate=gate)

    def _kinds(self, form: Form, subject: Mention, object_: Mention | Value) -> tuple[str, str | None] | None:
        """Return the kinds both ends take in this relation, or None when the slots refuse them."""
        wanted, wanted_object = self.slots[form.key]
        if form.sure and not (subject.sure or (isinstance(object_, Mention) and object_.sure)):
            return None
        left = _kind_in(subject, wanted)
        if left is None:
            return None
        if isinstance(object_, Value):
            return (left, None) if object_.type in wanted_object else None
        right = _kind_in(object_, wanted_object)
        return None if right is None else (left, right)

    def _dated(self, finding: Finding, first: Mention | Value, tail: gates.Tail) -> Finding:
        """Read validity from the adjuncts: since, from, until, and the day of an event."""
        begin = max(start for start in self.clauses if start <= first.start)
        since = until = None
        for preposition, when in gates.lead_spans(self.text, begin, first.start) + tail.spans:
            value = dates.iso(when)
            if preposition in ("until", "till", "bis", "hasta", "through", "to"):
                until = value
            elif preposition in ("since", "from", "seit", "depuis", "desde") or finding.key in EVENTS:
                since = since or value
        ended = finding.ended or bool(until and finding.key not in EVENTS)
        opening = gates.lead_fits(self.text, begin, first.start)
        scope = gates.environment_of(tail.environment or (opening.group("env") if opening else None))
        return replace(finding, valid_from=since, valid_to=until, scope=scope, ended=ended)

    def _first_gate(
        self, form: Form, finding: Finding, first: Mention | Value, rival: bool, tail: gates.Tail, shared: bool
    ) -> Gate | None:
        """Walk the gates in order."""
        text, span = self.text, self.span
        begin = max(start for start in self.clauses if start <= first.start)
        ahead = form.before.search(text[span.start : first.start]) if form.before else None
        opening = span.start + ahead.start() if ahead else first.start
        lead = gates.lead_fits(text, begin, opening)
        last = finding.object if finding.object.start > finding.subject.start else finding.subject
        if form.bare:
            return Gate.FORM
        if rival and not form.loose:
            return Gate.PATTERN
        if (
            not (form.negative or form.ended)
            and gates.denied(text, *finding.verb)
            or (not form.ended and self._past(finding))
        ):
            return Gate.PATTERN
        if gates.staged(text, span):
            return Gate.CONTEXT
        if text[span.end - 1] in "?؟？" or text[span.start] == "¿" or "?" in text[last.end : span.end]:
            return Gate.QUESTION
        if (
            text[first.start - 1 : first.start] in _OPENING_MARKS
            and text[first.end : first.end + 1] not in _CLOSING_MARKS
            and first.start
        ):
            return Gate.QUOTED
        enclosed = gates.enclosure(text, span, finding.verb)
        if enclosed:
            return enclosed
        if gates.unsettled(text, span.start, span.end):
            return Gate.VETO
        if not shared and lead is None and not (form.loose and gates.nested_fits(text, begin, first.start)):
            return Gate.LEAD
        if gates.denied(text, finding.end, span.end) and not tail.fine:
            return Gate.TAIL
        if not (tail.fine or form.loose or (tail.soft and not form.slot)):
            return Gate.TAIL
        if gates.under_heading(text, span):
            return Gate.HEADING
        if gates.retracted(text, span, self.following):
            return Gate.RETRACTED
        if tail.scope:
            return Gate.SCOPE
        return None

    def _note_role(self, finding: Finding, span: tuple[int, int]) -> None:
        """Read "O employs S as a data steward": the job is a role of S."""
        role = self.text[span[0] : span[1]]
        if role.split()[-1] in ROLE_HEADS:
            value = Value(*span, role, "text", " ".join(role.split()))
            kinds = (finding.kinds[0], None)
            self.roles.append(replace(finding, key="has_role", wording="works as", object=value, kinds=kinds))

    def _past(self, finding: Finding) -> bool:
        """Say whether a word in the gap makes a state one of the past or the future."""
        return finding.key not in EVENTS and bool(gates.FORMER.search(self.text, *finding.verb))

    def _open_clauses(self, finding: Finding, first: Mention | Value) -> None:
        """A clause that passed lets another one begin behind it."""
        self.subject_at[finding.end] = finding
        join = regex.compile(r"(?:;|,?\s+and|,\s+while|,\s+а|,\s+und|,\s+et|،\s+و?|,\s+y)\s+|،\s+و?").match(
            self.text, finding.end, self.span.end
        )
        if join:
            self.clauses[join.end()] = finding.subject


def _lead_of(finding: Finding) -> Mention:
    """Return the grammatical subject of a finding: the name that stands first."""
    if isinstance(finding.object, Mention) and finding.object.start < finding.subject.start:
        return finding.object
    return finding.subject


def _text_value(text: str, match: "regex.Match[str]", form: Form) -> Value:
    """Make a value of the text a form captured."""
    start, end = match.span("v")
    return Value(start, end, text[start:end], form.slot or "text", " ".join(text[start:end].split()))


def _kind_in(name: Mention, wanted: frozenset[str]) -> str | None:
    """Choose the kind a name takes in a slot, or None when it fits none."""
    fitting = name.kinds & wanted
    if not fitting:
        return None
    if name.sure and len(fitting) == 1:
        return next(iter(fitting))
    if "person" in fitting and looks_like_person(name.surface):
        return "person"
    rest = fitting - {"person"} if name.kinds == ANY and len(fitting) > 1 else fitting
    return next((kind for kind in _PREFERENCE if kind in rest), None)


def _settle(found: list[Finding]) -> list[Finding]:
    """Keep one finding for each key and pair; a passed one wins, and two keys for one pair and wording are a guess."""
    best: dict[tuple[str, int, int], Finding] = {}
    for finding in found:
        place = (finding.key, finding.subject.start, finding.object.start)
        if place not in best or (best[place].gate is not None and finding.gate is None):
            best[place] = finding
    kept = list(best.values())
    return [
        replace(finding, gate=Gate.KINDS)
        if finding.gate is None and any(_rivals(finding, other) for other in kept)
        else finding
        for finding in kept
    ]


def _rivals(one: Finding, other: Finding) -> bool:
    """Say whether the same words were read as another predicate of the same two spans."""
    same = {one.subject.start, one.object.start} == {other.subject.start, other.object.start}
    return same and one.key != other.key and one.wording == other.wording
