"""Lists of names that are handed in: who is known, and what texts call them.

FEBRL persons, given names with their nicknames, sample names of languages, and characters that look alike.
"""

import csv
import json
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Final
from uuid import UUID, uuid5

from densemem.core.names import NameRefused, lookup_key
from densemem.evals.scan import UnreadableFile

SPACE: Final = UUID(int=0)  # bearers have ids of their own, the same in each run
WORDS: Final = (
    "Abacus Lemon",
    "Quixotry Dune",
    "Judge Myrrh",
    "Fjord Vexing",
    "Backup Swift",
    "Zephyr Owl",
    "Wharf Ink",
)
DOTLESS: Final = "ıİ"  # with them a capital letter is another name


@dataclass(frozen=True, slots=True)
class Asked:
    """What a text calls somebody who is known."""

    bearer: UUID
    name: str


@dataclass(frozen=True, slots=True)
class NameSet:
    """The names of a file: (bearer, name) of each who is known, the canonical one first, and what is asked."""

    name: str
    known: Sequence[tuple[UUID, str]]
    asked: Sequence[Asked]

    def sample(self, size: int) -> "NameSet":
        """Return as many of what is asked, spread over the file, with whom it is about.

        Left out is who shares a name with another: by their names alone they could not be made known as two.
        """
        bearers: dict[str, set[UUID]] = {}
        for bearer, name in self.known:
            bearers.setdefault(lookup_key(name), set()).add(bearer)
        shared = {bearer for found in bearers.values() if len(found) > 1 for bearer in found}
        alone = [one for one in self.asked if one.bearer not in shared]
        asked = alone[:: max(1, len(alone) // size)][:size]
        meant = {one.bearer for one in asked}
        return NameSet(self.name, [row for row in self.known if row[0] in meant], asked)


def read_names(path: Path, limit: int = 0) -> NameSet:
    """
    Read a list of names; of what it asks the first `limit`, when there is one.

    :raises UnreadableFile: it is none of the lists that are known
    """
    try:
        if path.suffix == ".csv":
            known, asked = _of_table(list(csv.DictReader(path.read_text("utf-8").splitlines(), skipinitialspace=True)))
        else:
            known, asked = _of_document(json.loads(path.read_text("utf-8")))
    except (ValueError, KeyError, AttributeError, TypeError) as fault:
        raise UnreadableFile(f"{path} is no list of names that is known: {type(fault).__name__} {fault}.") from None
    known = list(dict.fromkeys(row for row in known if _is_name(row[1])))
    bearers = {bearer for bearer, _ in known}
    found = [one for one in asked if _is_name(one.name) and one.bearer in bearers]
    return NameSet(f"{path.parent.name}/{path.name}", known, list(islice(found, limit or None)))


Rows = tuple[list[tuple[UUID, str]], list[Asked]]


def _of_table(rows: Sequence[dict[str, str]]) -> Rows:
    if rows and "rec_id" in rows[0]:
        return _febrl(rows)
    return _nicknames([(row["name1"].title(), row["name2"].title()) for row in rows])


def _febrl(rows: Sequence[dict[str, str]]) -> Rows:
    """Take the original of each person as known, and ask for its duplicates, many with typing errors."""
    named = [(row["rec_id"].split("-"), f"{row['given_name']} {row['surname']}".strip().title()) for row in rows]
    known = [(uuid5(SPACE, rec[1]), name) for rec, name in named if rec[2] == "org"]
    return known, [Asked(uuid5(SPACE, rec[1]), name) for rec, name in named if rec[2] != "org"]


def _nicknames(pairs: Sequence[tuple[str, str]]) -> Rows:
    """Give each given name a surname of its own, and every other bearer its first nickname as an alias."""
    known: list[tuple[UUID, str]] = []
    asked: list[Asked] = []
    for number, given in enumerate(dict.fromkeys(given for given, _ in pairs)):
        bearer, surname = uuid5(SPACE, given), f"Har{''.join(_letters(number))}"
        nicknames = [nickname for name, nickname in pairs if name == given]
        known.append((bearer, f"{given} {surname}"))
        if number % 2:
            known.append((bearer, f"{nicknames[0]} {surname}"))
        asked += [Asked(bearer, f"{name} {surname}") for name in (given, given.upper(), *nicknames)]
    return known, asked


def _of_document(document: dict[str, Any]) -> Rows:
    if "main" not in document:
        return _look_alikes(document)
    ((language, found),) = document["main"].items()
    known: list[tuple[UUID, str]] = []
    asked: list[Asked] = []
    for label, parts in found["personNames"]["sampleName"].items():
        bearer = uuid5(SPACE, f"{language} {label}")
        given, surname = parts.get("given", ""), " ".join(_surname(parts))
        known.append((bearer, " ".join(filter(None, (given, parts.get("given2", ""), surname)))))
        if informal := parts.get("given-informal"):
            known.append((bearer, f"{informal} {surname}"))
            asked.append(Asked(bearer, f"{informal} {surname}"))
        asked += [Asked(bearer, name) for name in _written(known[-1][1])]
        if given and surname:
            asked += [Asked(bearer, name) for name in (f"{given} {surname}", f"{given[0]}. {surname}", given, surname)]
    return known, asked


def _surname(parts: dict[str, str]) -> Iterator[str]:
    for name in ("surname", "surname-prefix", "surname-core", "surname2"):
        if name in parts:
            yield parts[name]


def _written(name: str) -> Iterator[str]:
    """Yield ways to write the very same name."""
    yield name
    yield unicodedata.normalize("NFD", name)
    yield f" {name.replace(' ', chr(0xA0) + ' ')}"
    yield "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in name)
    if not set(name) & set(DOTLESS):
        yield name.upper()


def _look_alikes(document: dict[str, Any]) -> Rows:
    """Write names with each character that looks like one of theirs: by NFKC some are the same, the others are not."""
    known = [(uuid5(SPACE, name), name) for name in WORDS]
    asked = [Asked(bearer, name) for bearer, name in known]
    for char, alike in document.items():
        for bearer, name in known if char.isascii() and char.isalpha() else ():
            others = (str(one["c"]).strip("\u200e") for one in alike)
            asked += [Asked(bearer, name.replace(char, other, 1)) for other in others if char in name]
    return known, asked


def _letters(number: int) -> Iterator[str]:
    for place in (26 * 26, 26, 1):
        yield ascii_lowercase[number // place % 26]


def _is_name(name: str) -> bool:
    try:
        return bool(lookup_key(name))
    except NameRefused:
        return False
