"""The arguments of a call, checked whole before any use case runs."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from densemem.core import limits
from densemem.core.faults import Fault, Refused
from placement.contract import sentence

FORMATS: Final = Draft202012Validator.FORMAT_CHECKER
UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
# The token says who asks; no argument can.
SET_BY_TOKEN: Final = frozenset({"team_id", "profile_id", "owner_profile_id"})


class ArgumentsInvalid(Refused):
    """The arguments break the tool's inputSchema; every fault is listed."""

    code = "invalid_request"


def check(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """
    Refuse arguments that break their schema or hold what no table can.

    :param schema: of a flat object: its fields are plain values
    :raises ArgumentsInvalid: with every fault, each at its JSON Pointer
    """
    broken = [_fault_of(error) for error in Draft202012Validator(schema, format_checker=FORMATS).iter_errors(arguments)]
    faults = [*broken, *_faults_of_characters(arguments)][: limits.FAULTS]
    if faults:
        raise ArgumentsInvalid("The call cannot be made as it is. Mend each place and call again.", faults=faults)


def _faults_of_characters(arguments: Mapping[str, Any]) -> Iterator[Fault]:
    for name, value in arguments.items():
        if isinstance(value, str) and UNSTORABLE.search(value):
            yield Fault(f"/{name}", "bad_character", "NUL and lone surrogates cannot be stored.")


def _fault_of(error: ValidationError) -> Fault:
    """Translate a schema error without quoting the value."""
    pointer = "".join(f"/{part}" for part in error.absolute_path)
    match error.validator:
        case "additionalProperties":
            # Checked against an object schema, so these are what the names say, whatever their declared types.
            instance, schema = cast(Any, error.instance), cast(Any, error.schema)
            if owned := sorted(SET_BY_TOKEN.intersection(set(instance) - set(schema["properties"]))):
                detail = f"Leave out {', '.join(owned)}: the token says which team and profile asks."
                return Fault(pointer, "field_is_set_by_server", detail)
            return Fault(pointer, "unknown_field", sentence(error))
        case "required":
            return Fault(pointer, "missing_field", sentence(error))
        case "type":
            return Fault(pointer, "wrong_type", sentence(error))
    return Fault(pointer, f"broken_{error.validator}", sentence(error))
