"""The table of legal steps as people read it: rows, and a Mermaid diagram of states."""

from collections.abc import Mapping

from relationships.vocabulary import Status

Steps = Mapping[Status, frozenset[Status]]


def rows(steps: Steps) -> dict[str, list[str]]:
    """Return where each status may go, in the order of the words."""
    return {before.value: [after.value for after in Status if after in steps[before]] for before in steps}


def diagram(steps: Steps) -> str:
    """Return the Mermaid state diagram: one arrow for each step."""
    arrows = [f"    {before} --> {after}" for before, afters in rows(steps).items() for after in afters]
    return "\n".join(["stateDiagram-v2", *arrows])


def as_markdown(steps: Steps) -> str:
    """Return the table and the diagram as the documentation holds them."""
    table = [f"| `{before}` | {', '.join(f'`{a}`' for a in afters)} |" for before, afters in rows(steps).items()]
    return "\n".join(["| From | To |", "|---|---|", *table, "", "```mermaid", diagram(steps), "```"])
