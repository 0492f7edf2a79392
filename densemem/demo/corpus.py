"""The sample corpus: whose papers they are, and each one as a request to remember ("Memory Write Pipeline", stage 1).

The files beside this module hold texts by their lines and names without offsets; a name is found where it stands.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class SampleProfile:
    """Somebody of the invented team; `steward` answers for an agent, `login` opens the console for a person."""

    ref: str
    name: str
    kind: str
    role: str
    steward: str | None
    login: str | None


@dataclass(frozen=True, slots=True)
class Document:
    """One paper as its author sends it: `body` is a whole request to remember."""

    key: str
    by: str
    about: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Corpus:
    """The team, and its papers in the order in which they were written."""

    about: str
    team: str
    profiles: tuple[SampleProfile, ...]
    documents: tuple[Document, ...]


def load_corpus() -> Corpus:
    """Read the corpus from its files."""
    team = _read(FOLDER / "team.json")
    names = {row["ref"]: row for row in team["names"]}
    papers = [_read(path) for path in sorted((FOLDER / "documents").glob("*.json"))]
    return Corpus(
        about=team["about"],
        team=team["team"],
        profiles=tuple(_profile(row) for row in team["profiles"]),
        documents=tuple(_document(paper, names) for paper in papers),
    )


def places_of(text: str, names: Sequence[str]) -> list[tuple[int, int]]:
    """Return where these names stand in a text as words of their own, in code points; a longer name hides a shorter."""
    found: list[tuple[int, int]] = []
    for name in sorted(names, key=len, reverse=True):
        for match in re.finditer(_whole(name), text):
            start, end = match.span()
            if all(end <= s or e <= start for s, e in found):
                found.append((start, end))
    return sorted(found)


def _whole(name: str) -> str:
    """Return the pattern of a name; only scripts that put spaces between words have borders to respect."""
    border = r"[A-Za-z0-9]"
    left = rf"(?<!{border})" if name[0].isascii() else ""
    right = rf"(?!{border})" if name[-1].isascii() else ""
    return left + re.escape(name) + right


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _profile(row: Mapping[str, Any]) -> SampleProfile:
    return SampleProfile(row["ref"], row["name"], row["kind"], row["role"], row.get("steward"), row.get("login"))


def _document(paper: Mapping[str, Any], names: Mapping[str, Mapping[str, Any]]) -> Document:
    evidence = [{**item, "content": "\n".join(item["lines"])} for item in paper["evidence"]]
    texts = [item["content"] for item in evidence]
    body: dict[str, Any] = {"evidence": [{k: v for k, v in item.items() if k != "lines"} for item in evidence]}
    if paper.get("names"):
        body["proposal"] = {
            "entities": [_entity(names[ref], texts) for ref in paper["names"]],
            "relationships": [_relationship(row, n, texts) for n, row in enumerate(paper.get("says", []), start=1)],
        }
    return Document(paper["key"], paper["by"], paper["about"], body)


def _entity(name: Mapping[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """Return a name as a client hands it over: its kind, its other names, and where it stands."""
    spellings = [name["name"], *name.get("aliases", [])]
    return {**name, "mentions": list(_mentions(texts, spellings))}


def _mentions(texts: Sequence[str], spellings: Sequence[str]) -> Iterator[dict[str, Any]]:
    for index, text in enumerate(texts):
        for start, end in places_of(text, spellings):
            yield {"evidence_index": index, "start": start, "end": end, "surface": text[start:end]}


def _relationship(row: Mapping[str, Any], number: int, texts: Sequence[str]) -> dict[str, Any]:
    """Return what the author thinks that a sentence says."""
    index = next(i for i, text in enumerate(texts) if row["quote"] in text)
    start = texts[index].index(row["quote"])
    span = {"evidence_index": index, "start": start, "end": start + len(row["quote"])}
    return {
        "proposal_id": f"p{number}",
        "subject_ref": row["subject"],
        "predicate": row["predicate"],
        "object_ref": row["object"],
        "evidence": [span],
    }
