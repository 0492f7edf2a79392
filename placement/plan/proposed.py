"""What a client's proposal says of the things that a text mentions. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from densemem.core.names import lookup_key
from placement.contract import Extraction, Mention


def rows_naming(
    extraction: Extraction, keys: Mapping[str, str], proposal: Mapping[str, Any]
) -> Iterator[tuple[Mention, Mapping[str, Any]]]:
    """Yield each mention with each entity of the proposal that means it: by a span of it, a name or an alias."""
    for row in proposal.get("entities", []):
        names = {lookup_key(name) for name in (row["name"], *row.get("aliases", []))}
        spans = {(span["start"], span["end"]) for span in row.get("mentions", [])}
        for mention in extraction.mentions:
            if keys[mention.ref] in names or (mention.start, mention.end) in spans:
                yield mention, row
