"""What a broken rule of a JSON Schema asks for, in one sentence: for a client that sends and a model that answers."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Final

from jsonschema.exceptions import ValidationError

from densemem.core import limits

NAMES_SHOWN: Final = 5
TYPES: Final = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a text",
}


def sentence(error: ValidationError) -> str:
    """Say where something is wrong and how to mend it. The value is never quoted: it may be evidence, or a megabyte.

    A `description` beside the broken rule is added: there a schema says what a place is for.
    """
    told = f"{_place(error)} {_mend(error)}."
    schema: Any = error.schema
    about = schema.get("description", "") if error.validator not in ("required", "additionalProperties") else ""
    return f"{told} {about}".strip()


def _place(error: ValidationError) -> str:
    """Name the place by its nearest field."""
    path = list(error.absolute_path)
    if "propertyNames" in error.absolute_schema_path:
        return f"Each field name in {_quoted(path[-1:])}"
    if not path:
        return "The whole document"
    if isinstance(path[-1], int):
        return f"Entry {path[-1]} of {_quoted(path[-2:-1])}" if len(path) > 1 else f"Entry {path[-1]}"
    return _quoted(path[-1:])


def _mend(error: ValidationError) -> str:
    """Say what the broken rule wants."""
    rule: Any = error.validator_value
    value: Any = error.instance
    schema: Any = error.schema
    match error.validator:
        case "required":
            return f"lacks {_quoted((name for name in rule if name not in value), most=len(rule))}: add what is missing"
        case "additionalProperties":
            return f"has a field that is not known: remove {_quoted(_unknown(value, schema))}{_known(schema)}"
        case "type":
            return f"must be {' or '.join(TYPES[word] for word in _words(rule))}, and is {_kind(value)}"
        case "enum":
            return f"must be one of: {', '.join(map(str, rule))}"
        case "const":
            return f"must be {rule}"
        case "minLength" | "minItems" | "minProperties":
            return "must not be empty" if rule == 1 else f"must hold at least {rule}, and holds {len(value)}"
        case "maxLength":
            return f"must be at most {rule} characters long, and has {len(value)}: shorten it"
        case "maxItems" | "maxProperties":
            return f"may hold at most {rule} entries, and holds {len(value)}: leave some out"
        case "minimum":
            return f"must be {rule} or more"
        case "maximum":
            return f"must be {rule} or less"
        case "uniqueItems":
            return "must list each entry once"
        case "format":
            return f"must have the form of a {str(rule).upper()}"
    return f"breaks the rule {error.validator}"


def _unknown(value: Any, schema: Any) -> list[str]:
    return sorted(set(value) - set(schema.get("properties", {})))


def _known(schema: Any) -> str:
    names = list(schema.get("properties", {}))
    return f"; known are {_quoted(names, most=len(names))}" if names else ""


def _quoted(names: Iterable[object], *, most: int = NAMES_SHOWN) -> str:
    """Return names for a sentence: few of them, none longer than any name of ours."""
    texts = [f"`{str(name)[: limits.REF_CHARS]}`" for name in names]
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def _words(rule: str | Sequence[str]) -> Sequence[str]:
    return [rule] if isinstance(rule, str) else rule


def _kind(value: object) -> str:
    """Name the JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int():
            return "a whole number"
        case float() | Decimal():
            return "a number with a point"
        case str():
            return "a text"
        case list():
            return "a list"
    return "an object"
