"""How names find who bears them, measured on lists of names beside the bars they have to reach.

Each file gives who is known and what texts call them. A verifier that takes whoever is offered first answers; what may
stand of that is decided by the product's own rules, over all names in memory and over a sample in a real database.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from densemem.core import limits
from densemem.core.names import lookup_key
from densemem.evals.name_lists import Asked, NameSet, read_names
from densemem.evals.named import placed
from entities.policy import Candidate, Form, MentionDecision, asked_forms, decide_mention, kept_forms
from entities.vocabulary import CandidateReason, EntityKind, ResolutionAction

KIND: Final = EntityKind.PERSON
ORDER: Final = tuple(CandidateReason)
SAMPLE: Final = 25  # of each set, in a real database
REUSED: Final = 0.99

Steps = Callable[[Iterable[Asked]], Iterable[Asked]]


@dataclass(slots=True)
class Known:
    """Who is known by which names, as the tables would have it."""

    keys: dict[str, dict[UUID, None]] = field(default_factory=dict)
    forms: dict[Form, dict[UUID, None]] = field(default_factory=dict)
    canonical: dict[UUID, str] = field(default_factory=dict)

    def learn(self, bearer: UUID, name: str) -> None:
        """Give a bearer a name: the first is the canonical one."""
        is_first = bearer not in self.canonical
        self.canonical.setdefault(bearer, lookup_key(name))
        self.keys.setdefault(lookup_key(name), {})[bearer] = None
        for form in kept_forms(name, canonical=is_first):
            self.forms.setdefault(form, {})[bearer] = None

    def candidates(self, name: str) -> list[Candidate]:
        """Return who is offered for a mention, the first one first."""
        key = lookup_key(name)
        if bearers := self.keys.get(key):
            return [Candidate(b, KIND, self._borne(b, key)) for b in sorted(bearers)][: limits.CANDIDATES]
        found: dict[UUID, CandidateReason] = {}
        for form in sorted(asked_forms(name, KIND), key=lambda f: ORDER.index(f.reason)):
            for bearer in sorted(self.forms.get(form, ())):
                found.setdefault(bearer, form.reason)
        return [Candidate(bearer, KIND, reason) for bearer, reason in found.items()][: limits.PROPOSALS]

    def _borne(self, bearer: UUID, key: str) -> CandidateReason:
        return CandidateReason.EXACT if self.canonical[bearer] == key else CandidateReason.ALIAS


def answered(candidates: Sequence[Candidate], bearers: int) -> MentionDecision:
    """Return what becomes of an eager answer: the only bearer, else the first who is like it, else somebody new."""
    if sum(one.exact for one in candidates) > 1:
        action, chosen = ResolutionAction.AMBIGUOUS, None
    elif candidates:
        action, chosen = ResolutionAction.REUSE, candidates[0].entity_id
    else:
        action, chosen = ResolutionAction.CREATE, None
    return decide_mention(action=action, candidate_id=chosen, candidates=candidates, kind=KIND, bearers=bearers)


def run(paths: Sequence[Path], limit: int, track: Steps) -> dict[str, Any]:
    """
    Measure every file, or the first `limit` names that each asks for.

    :param track: shows how far it is
    :raises UnreadableFile: a file is none of those that are known
    """
    sets = [read_names(path, limit) for path in paths]
    rows = [_measured(one, track) for one in sets]
    sampled = _in_database(sets, track)
    bars = [_bar("Q4", "wrong automatic reuse", sum(r["wrong"] for r in rows) + sampled["wrong"], at_most=0)]
    bars.append(_bar("Q4", "other spellings reused silently", _total(rows, "silent") + sampled["silent"], at_most=0))
    bars += [_bar("Q4", f"exact and alias reuse, {r['name']}", r["reused"], at_least=REUSED) for r in rows if r["same"]]
    bars.append(_bar("Q4", "exact and alias reuse, in the database", sampled["reused"], at_least=REUSED))
    bars.append(_bar("Q4", "the database decides otherwise than the rules", sampled["differs"], at_most=0))
    return {"sets": rows, "database": sampled, "bars": bars, "passed": all(bar["passed"] for bar in bars)}


def _measured(names: NameSet, track: Steps) -> dict[str, Any]:
    """Count what becomes of each name of a set."""
    known = Known()
    for bearer, name in names.known:
        known.learn(bearer, name)
    counts, reasons = Counter[str](), Counter[str]()
    for asked in track(names.asked):
        candidates = known.candidates(asked.name)
        bearers = known.keys.get(lookup_key(asked.name), {})
        decision = answered(candidates, len(bearers))
        is_same = asked.bearer in bearers
        counts[outcome_of(decision.entity_id, asked.bearer, bearers=bearers)] += 1
        counts["same" if is_same else "other"] += 1
        if not is_same:
            right = [one.reason for one in candidates if one.entity_id == asked.bearer]
            reasons[right[0].value if right else "not_proposed"] += 1
            counts["open"] += decision.action is ResolutionAction.AMBIGUOUS
        else:
            counts["homonyms"] += len(bearers) > 1
    return {
        "name": names.name,
        "known": len(known.canonical),
        "same": counts["same"],
        "homonyms": counts["homonyms"],
        "reused": _share(counts["right"], counts["same"] - counts["homonyms"]),
        "other": counts["other"],
        "open": counts["open"],
        "proposed": dict(sorted(reasons.items())),
        "silent": counts["silent"],
        "wrong": counts["wrong"],
        "namesakes": counts["namesakes"],
    }


def outcome_of(chosen: UUID | None, right: UUID, *, bearers: Collection[UUID]) -> str:
    """Return what an automatic answer is: right, silent where another spelling was taken, wrong, or none.

    A namesake bears the very name of the mention, and whoever is meant was never known by it: no name tells them apart.
    """
    if chosen is None:
        return "none"
    if chosen == right:
        return "right" if right in bearers else "silent"
    return "namesakes" if chosen in bearers and right not in bearers else "wrong"


def _in_database(sets: Sequence[NameSet], track: Steps) -> dict[str, Any]:
    """Send a sample of each set through the whole path, and compare what was decided with what the rules say."""
    counts = Counter[str]()
    samples = [one.sample(SAMPLE) for one in sets]
    for names, outcomes in placed(samples, track):
        known = Known()
        for bearer, name in names.known:
            known.learn(bearer, name)
        for asked, chosen in zip(names.asked, outcomes, strict=True):
            bearers = known.keys.get(lookup_key(asked.name), {})
            expected = answered(known.candidates(asked.name), len(bearers)).entity_id
            counts[outcome_of(chosen, asked.bearer, bearers=bearers)] += 1
            counts["same"] += asked.bearer in bearers and len(bearers) == 1
            counts["differs"] += chosen != expected
    figures = {name: counts[name] for name in ("same", "wrong", "silent", "namesakes", "differs")}
    return {"asked": sum(len(s.asked) for s in samples), **figures, "reused": _share(counts["right"], counts["same"])}


def _total(rows: Iterable[dict[str, Any]], name: str) -> int:
    return sum(int(row[name]) for row in rows)


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 1.0


def _bar(
    bar: str, what: str, value: float, *, at_least: float | None = None, at_most: float | None = None
) -> dict[str, Any]:
    passed = (at_least is None or value >= at_least) and (at_most is None or value <= at_most)
    return {"bar": bar, "what": what, "value": value, "at_least": at_least, "at_most": at_most, "passed": passed}
