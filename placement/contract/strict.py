"""Strict JSON, the committed closed schemas and the fixed prompts ("Strict Verifier Contract")."""

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator

from densemem.core import limits
from densemem.core.faults import Fault
from placement.contract.faults import AnswerRefused, clipped, first, pointer
from placement.contract.sentences import sentence

_HOME: Final = Path(__file__).resolve().parent.parent


def _schema(name: str) -> Mapping[str, Any]:
    """Return one committed schema, itself checked against Draft 2020-12."""
    schema: dict[str, Any] = json.loads((_HOME / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return schema


EXTRACTION: Final = _schema("extraction")
EXTRACTION_REQUEST: Final = _schema("extraction_request")
VERIFIER_REQUEST: Final = _schema("verifier_request")
VERIFIER_RESPONSE: Final = _schema("verifier_response")

_VALIDATORS: Final = {
    str(schema["title"]): Draft202012Validator(schema)
    for schema in (EXTRACTION, EXTRACTION_REQUEST, VERIFIER_REQUEST, VERIFIER_RESPONSE)
}


@cache
def prompt(name: str) -> str:
    """Return the fixed system text `reviewer` or `verifier`."""
    return (_HOME / "prompts" / f"{name}.txt").read_text(encoding="utf-8")


def read_closed(text: str, *, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer as plain data that fits the closed schema; numbers with a point are exact decimals.

    :raises AnswerRefused: it is not strict JSON, too large, holds text that cannot be stored, or breaks the schema
    """
    data = _parse(text)
    try:
        faults = first(_schema_faults(data, schema)) or first(_text_faults(data, ()))
    except RecursionError:
        faults = [TOO_DEEP]
    if faults:
        raise AnswerRefused(faults)
    assert isinstance(data, dict)
    return data


TOO_DEEP: Final = Fault("", "not_json", "A number is too long, or the nesting is too deep.")


def check_request(request: Mapping[str, Any], *, schema: Mapping[str, Any]) -> None:
    """Check that the server itself asks by its schema; the tests do so of whatever is sent to a model.

    :raises ValueError: the request breaks the schema; names the first place
    """
    for fault in _schema_faults(request, schema):
        raise ValueError(f"{fault.pointer}: {fault.detail}")


class _Refused(ValueError):
    """Something that lenient JSON readers accept and this one does not."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


def _parse(text: str) -> Any:
    """Return strict JSON: no duplicate keys, no NaN or Infinity, bounded size and depth."""
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise AnswerRefused([Fault("", "text_not_storable", "The answer holds a lone surrogate.")]) from None
    if size > limits.ANSWER_BYTES:
        raise AnswerRefused([Fault("", "too_large", f"The answer is over {limits.ANSWER_BYTES} bytes.")])
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_finite, parse_float=Decimal)
    except _Refused as refused:
        raise AnswerRefused([Fault("", refused.code, clipped(str(refused)))]) from None
    except json.JSONDecodeError as broken:
        raise AnswerRefused([Fault("", "not_json", f"Not JSON at character {broken.pos}: {broken.msg}.")]) from None
    except (ValueError, ArithmeticError, RecursionError):
        # Numbers with thousands of digits or exponents beyond any decimal, and nesting deeper than the reader goes.
        raise AnswerRefused([TOO_DEEP]) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, refusing a key that comes twice: readers disagree about which one counts."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Refused("duplicate_key", "A key occurs twice in one object: " + json.dumps(clipped(key)) + ".")
        found[key] = value
    return found


def _finite(word: str) -> Any:
    """Refuse NaN and Infinity, which are not JSON."""
    raise _Refused("not_finite", f"{word} is not a JSON number.")


def _schema_faults(data: Any, schema: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield one fault for each broken rule of the schema."""
    for error in _VALIDATORS[str(schema["title"])].iter_errors(data):
        yield Fault(pointer(*error.absolute_path), f"schema_{error.validator}", clipped(sentence(error)))


def _text_faults(data: Any, path: tuple[str | int, ...]) -> Iterator[Fault]:
    """Yield a fault for each string that a database cannot hold: NUL, or half of a surrogate pair."""
    if isinstance(data, str):
        if "\0" in data or any("\ud800" <= char <= "\udfff" for char in data):
            yield Fault(pointer(*path), "text_not_storable", "Text must not hold NUL or a lone surrogate.")
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from _text_faults(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _text_faults(value, (*path, index))
