"""What a tool answers, as JSON and as JSON Schema; both follow the frozen dataclass of the use case."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter
from rest_framework.utils.encoders import JSONEncoder


def plain(answer: Any) -> dict[str, Any]:
    """Return the answer as REST writes it: ids and times are texts, tuples are arrays."""
    written: dict[str, Any] = json.loads(json.dumps(asdict(answer), cls=JSONEncoder))
    return written


def compact(document: Mapping[str, Any]) -> str:
    """Return a document in as few characters as JSON allows, for hosts that hand only text to a model."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def schema_of(answer: type) -> dict[str, Any]:
    """Return the closed JSON Schema (2020-12) of what `plain` makes of such an answer."""
    schema = TypeAdapter(answer).json_schema(mode="serialization")
    for part in (schema, *schema.get("$defs", {}).values()):
        if "properties" in part:
            part["additionalProperties"] = False
            part["required"] = list(part["properties"])
            for field in part["properties"].values():
                field.pop("title", None)  # the name in other letters; a model pays for each
    return schema
