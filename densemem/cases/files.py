"""Reading a file of cases, and the fixtures that its cases share."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

FIXTURES: Final = "fixtures.json"
PARTS: Final = {"id": str, "input": dict, "expected": dict}
SHARED: Final = {"teams": dict, "entities": dict, "predicates": dict}


class CasesUnreadable(Exception):
    """The file is not one of cases; the text names the place and the mend."""


@dataclass(frozen=True, slots=True)
class Case:
    """One case as it stands in its file.

    :param script: what the models answer, in the order of the calls
    :param needs_llm: only a language model can do its semantic part
    """

    id: str
    line: int
    input: Mapping[str, Any]
    expected: Mapping[str, Any]
    script: tuple[Mapping[str, Any], ...]
    needs_llm: bool

    @property
    def setup(self) -> Mapping[str, Any]:
        """What is there before the first step."""
        found: Mapping[str, Any] = self.input.get("setup", {})
        return found

    @property
    def steps(self) -> list[Any]:
        """The steps in order; empty for a race."""
        return list(self.input.get("steps", []))


@dataclass(frozen=True, slots=True)
class Fixtures:
    """Teams, entities and predicates under the short names that cases use."""

    teams: Mapping[str, list[str]]
    entities: Mapping[str, Any]
    predicates: Mapping[str, Mapping[str, Any]]


def read_cases(path: Path) -> list[Case]:
    """Return the cases of a file of one JSON object a line.

    :raises CasesUnreadable: naming the line and the mend
    """
    found: dict[str, Case] = {}
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line.strip():
            continue
        case = _case(_object(line, f"{path}, line {number}"), number, path)
        if case.id in found:
            raise CasesUnreadable(
                f"{path}, line {number}: the id {case.id!r} was used in line {found[case.id].line}. Give it another."
            )
        found[case.id] = case
    if not found:
        raise CasesUnreadable(f"{path} holds no cases. Give a file of one JSON object a line.")
    return list(found.values())


def read_fixtures(path: Path) -> Fixtures:
    """Return the fixtures.

    :raises CasesUnreadable: naming the mend
    """
    data = _object(_text(path), str(path))
    _check(data, SHARED, str(path))
    return Fixtures(data["teams"], data["entities"], data["predicates"])


def fixtures_beside(path: Path) -> Path:
    """Return where the fixtures of a file of cases lie when nobody says otherwise."""
    return path.parent / FIXTURES


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as fault:
        raise CasesUnreadable(f"{path} cannot be read: {fault.strerror}. Name a file that is there.") from None
    except UnicodeDecodeError as fault:
        raise CasesUnreadable(f"{path} is not UTF-8 at byte {fault.start}. Save it as UTF-8.") from None


def _object(text: str, place: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError as fault:
        raise CasesUnreadable(f"{place}: not JSON ({fault}). Write one JSON object.") from None
    if not isinstance(data, dict):
        raise CasesUnreadable(f"{place}: not a JSON object. Write it as {{...}}.")
    return data


def _check(data: Mapping[str, Any], parts: Mapping[str, type], place: str) -> None:
    for name, kind in parts.items():
        if not isinstance(data.get(name), kind):
            raise CasesUnreadable(f"{place}: {name!r} must be there, as a JSON {NAMES[kind]}.")


NAMES: Final[Mapping[type, str]] = {str: "string", dict: "object", list: "array"}


def _case(data: Mapping[str, Any], number: int, path: Path) -> Case:
    place = f"{path}, line {number}"
    _check(data, PARTS, place)
    if not {"steps", "race"} & set(data["input"]):
        raise CasesUnreadable(f"{place}: 'input' has neither 'steps' nor 'race'. Say what happens.")
    for fault in _misshapen(data):
        raise CasesUnreadable(f"{place}: {fault}")
    script = tuple(data.get("scripted", []))
    return Case(data["id"], number, data["input"], data["expected"], script, bool(data.get("needs_llm", False)))


def _misshapen(data: Mapping[str, Any]) -> Iterator[str]:
    shapes = {"setup": dict, "steps": list, "config": dict}
    for name, kind in shapes.items():
        if not isinstance(data["input"].get(name, kind()), kind):
            yield f"'input.{name}' must be a JSON {NAMES[kind]}."
    if not isinstance(data["input"].get("race", []), list | dict):
        yield "'input.race' must be an object, or an array of events."
    script = data.get("scripted", [])
    if not isinstance(script, list) or not all(isinstance(e, dict) and "stage" in e for e in script):
        yield "'scripted' must be an array of objects with a 'stage'."
