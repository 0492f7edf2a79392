"""Score active records against labelled notes and labelled passages; pure, so every evaluation counts alike."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SYMMETRIC = frozenset({"partner_of", "competitor_of", "married_to", "integrates_with"})
# Property of KnowledgeNet -> predicates that say it, and whether the labelled subject is our object.
PROPERTIES: Mapping[str, tuple[frozenset[str], bool]] = {
    "CEO": (frozenset({"ceo_of"}), True),
    "DATE_FOUNDED": (frozenset({"founded_on"}), False),
    "DATE_OF_BIRTH": (frozenset({"born_on"}), False),
    "EDUCATED_AT": (frozenset({"studied_at"}), False),
    "EMPLOYEE_OR_MEMBER_OF": (frozenset({"works_for", "member_of", "joined", "leads", "ceo_of"}), False),
    "FOUNDED_BY": (frozenset({"founded"}), True),
    "HEADQUARTERS": (frozenset({"headquartered_in", "located_in"}), False),
    "PLACE_OF_RESIDENCE": (frozenset({"lives_in"}), False),
    "SPOUSE": (frozenset({"married_to"}), False),
    "SUBSIDIARY_OF": (frozenset({"subsidiary_of"}), False),
}


@dataclass(frozen=True, slots=True)
class ActiveFact:
    """One active record as the text names it; `at` fields are code point spans where they are known."""

    subject: str
    predicate: str
    object: str
    polarity: str = "+"
    ended: bool = False
    subject_kind: str | None = None
    object_kind: str | None = None
    norm: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    scope: str | None = None
    subject_at: tuple[int, int] | None = None
    object_at: tuple[int, int] | None = None


def wilson(hits: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share; (0, 1) when nothing was counted."""
    if total == 0:
        return 0.0, 1.0
    share = hits / total
    middle = share + z * z / (2 * total)
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def rate(hits: int, total: int) -> dict[str, Any]:
    """Report a share with its counts and interval; the share of nothing is None."""
    low, high = wilson(hits, total)
    return {
        "hits": hits,
        "of": total,
        "rate": round(hits / total, 4) if total else None,
        "low": round(low, 4),
        "high": round(high, 4),
    }


def _fold(name: str | None) -> str:
    """Compare surfaces casefolded and trimmed."""
    return " ".join((name or "").split()).casefold()


def _same_ends(active: ActiveFact, label: Mapping[str, Any]) -> bool:
    """Say whether subject and object are the labelled ones, in either order for symmetric predicates."""
    wanted = (_fold(label["subject"]), _fold(label.get("object", label.get("value"))))
    found = (_fold(active.subject), _fold(active.object))
    if found == wanted or (active.predicate in SYMMETRIC and found == wanted[::-1]):
        return True
    norms = {_fold(label.get("value_norm"))} - {""}
    return found[0] == wanted[0] and bool(norms & {_fold(active.norm), found[1]})


def _says(active: ActiveFact, label: Mapping[str, Any], homonym: bool) -> bool:
    """Say whether a record makes the labelled statement, time aside."""
    if active.predicate != label["predicate"] or active.polarity != label["polarity"] or not _same_ends(active, label):
        return False
    return not homonym or active.subject_kind in (None, label["subject_kind"])


def score_notes(
    notes: Iterable[Mapping[str, Any]], active_by_note: Mapping[str, Sequence[ActiveFact]]
) -> dict[str, Any]:
    """Score the active records of labelled team notes.

    :param active_by_note: per note id the records that became active in an empty memory
    :returns: precision, recalls with intervals, counts by trap and predicate, and the wrong, forbidden and missed ones
    """
    tally = _Notes()
    for note in notes:
        tally.add(note, active_by_note.get(note["id"], ()))
    return tally.report()


class _Notes:
    """Running counts over notes."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.by_trap: dict[str, Counter[str]] = defaultdict(Counter)
        self.by_predicate: dict[str, Counter[str]] = defaultdict(Counter)
        self.wrong: list[dict[str, Any]] = []
        self.forbidden: list[dict[str, Any]] = []
        self.missed: list[dict[str, Any]] = []

    def add(self, note: Mapping[str, Any], active: Sequence[ActiveFact]) -> None:
        """Count one note."""
        homonym = note["trap"] == "homonym"
        for record in active:
            matches = [f for f in note["facts"] if _says(record, f, homonym) and f["ended"] == record.ended]
            self.counts.update(active=1, right=int(bool(matches)))
            scoped = [f for f in matches if f.get("scope")]
            self.counts.update(scoped=int(bool(scoped)), scope_carried=int(bool(scoped and record.scope)))
            if not matches:
                self.wrong.append(_shown(note, record))
        for label in note["must_not"]:
            hits = [r for r in active if _says(r, label, homonym) and not (label.get("only_if_current") and r.ended)]
            self.counts.update(must_not=1)
            self.forbidden += [_shown(note, record) | {"why": label["why"]} for record in hits]
        for label in note["facts"]:
            self._recall(note, label, any(_says(r, label, homonym) and label["ended"] == r.ended for r in active))

    def _recall(self, note: Mapping[str, Any], label: Mapping[str, Any], hit: bool) -> None:
        """Count one labelled fact that every careful reader takes as asserted."""
        if not label["must"]:
            return
        foreign, plain, met = int(note["lang"] != "en"), int(label["plain"]), int(hit)
        self.counts.update(must=1, must_hit=met, plain=plain, plain_hit=plain * met)
        self.counts.update(foreign=foreign, foreign_hit=foreign * met)
        self.by_trap[note["trap"]].update(must=1, hit=met)
        self.by_predicate[label["predicate"]].update(must=1, hit=met)
        if label["plain"] and not hit:
            self.missed.append(
                {
                    "id": note["id"],
                    "text": note["text"],
                    "fact": [label["subject"], label["predicate"], label.get("object", label.get("value"))],
                }
            )

    def report(self) -> dict[str, Any]:
        """Return the figures."""
        count = self.counts
        return {
            "precision": rate(count["right"], count["active"]),
            "recall_plain": rate(count["plain_hit"], count["plain"]),
            "recall_must": rate(count["must_hit"], count["must"]),
            "recall_foreign": rate(count["foreign_hit"], count["foreign"]),
            "must_not_active": rate(len(self.forbidden), count["must_not"]),
            "scope_carried": rate(count["scope_carried"], count["scoped"]),
            "by_trap": {trap: f"{c['hit']}/{c['must']}" for trap, c in sorted(self.by_trap.items())},
            "by_predicate": {key: f"{c['hit']}/{c['must']}" for key, c in sorted(self.by_predicate.items())},
            "wrong": self.wrong,
            "forbidden": self.forbidden,
            "missed_plain": self.missed,
        }


def _shown(note: Mapping[str, Any], record: ActiveFact) -> dict[str, Any]:
    """Show a record beside its text."""
    return {"id": note["id"], "text": note["text"], "record": _words(record)}


def _words(record: ActiveFact) -> list[str]:
    """Put a record into words for a list."""
    return [record.subject, record.predicate, record.object, record.polarity, "ended" if record.ended else "current"]


def score_knowledgenet(
    rows: Iterable[Mapping[str, Any]], active_by_passage: Mapping[str, Sequence[ActiveFact]]
) -> dict[str, Any]:
    """Score active records against passages that were labelled one property at a time.

    A record counts only where its passage was labelled for a property that its predicate maps to, and is right when
    both of its spans overlap a label of such a property. Properties without a seeded predicate (children, death,
    nationality, birthplace, party) stay in the count of all facts only.

    :param active_by_passage: per passage text its active records, with `subject_at` and `object_at`
    """
    labels: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        labels[row["passage"]].append(row)
    counts: Counter[str] = Counter()
    by_property: dict[str, Counter[str]] = defaultdict(Counter)
    wrong: list[dict[str, Any]] = []
    for passage, group in labels.items():
        active = active_by_passage.get(passage, ())
        _count_recall(group, active, counts, by_property)
        for record in active:
            _count_precision(passage, group, record, counts, by_property, wrong)
    return {
        "precision": rate(counts["right"], counts["judged"]),
        "recall_all": rate(counts["hit"], counts["all"]),
        "recall_mapped": rate(counts["hit"], counts["mapped"]),
        "active": counts["active"],
        "by_property": {name: dict(count) for name, count in sorted(by_property.items())},
        "wrong": wrong,
    }


def _count_recall(
    group: Sequence[Mapping[str, Any]],
    active: Sequence[ActiveFact],
    counts: Counter[str],
    by_property: dict[str, Counter[str]],
) -> None:
    """Count the labels of one passage that an active record meets."""
    for row in group:
        if "subject" not in row:
            continue
        hit = int(any(_meets(record, row) for record in active))
        counts.update(all=1, mapped=int(row["property"] in PROPERTIES), hit=hit)
        by_property[row["property"]].update(labels=1, hit=hit)


def _count_precision(
    passage: str,
    group: Sequence[Mapping[str, Any]],
    record: ActiveFact,
    counts: Counter[str],
    by_property: dict[str, Counter[str]],
    wrong: list[dict[str, Any]],
) -> None:
    """Judge one active record where its passage was labelled for its property."""
    counts.update(active=1)
    judged = sorted(
        {
            row["property"]
            for row in group
            if row["property"] in PROPERTIES and record.predicate in PROPERTIES[row["property"]][0]
        }
    )
    if not judged:
        return
    right = int(any(_meets(record, row) for row in group if "subject" in row))
    counts.update(judged=1, right=right)
    by_property[judged[0]].update(judged=1, right=right)
    if not right:
        wrong.append({"text": passage, "record": _words(record)})


def _meets(record: ActiveFact, row: Mapping[str, Any]) -> bool:
    """Say whether a record states a label: mapped predicate, plus sign, both spans overlap."""
    predicates, turned = PROPERTIES.get(row["property"], (frozenset(), False))
    if record.predicate not in predicates or record.polarity != "+":
        return False
    subject, object_ = (row["object"], row["subject"]) if turned else (row["subject"], row["object"])
    if _overlaps(record.subject_at, subject) and _overlaps(record.object_at, object_):
        return True
    return (
        record.predicate in SYMMETRIC and _overlaps(record.subject_at, object_) and _overlaps(record.object_at, subject)
    )


def _overlaps(span: tuple[int, int] | None, label: Mapping[str, Any]) -> bool:
    """Say whether a span shares a code point with a label."""
    return span is not None and span[0] < label["end"] and label["start"] < span[1]
