"""Sentences of a note. A missed boundary costs a finding, a false one could hide a denial: so the rules split late."""

import regex

from densemem.providers.rules.dates import is_month
from densemem.providers.rules.shapes import Sentence

ABBREVIATION = regex.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Inc|Ltd|Co|Corp|Bros|vs|No|Nr|e\.g|i\.e|approx|ca|cf|Gen|Col|Capt|Lt|Sen|Rep|Rev|Hon|dept|est"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|U\.S|U\.K|Ph\.D|M\.D|B\.A|M\.A|B\.Sc|M\.Sc)|\b\p{Lu})\.$"
)
DAY_NUMBER = regex.compile(r"(?<![\d.,]|\p{Lu}|\p{Lu}\s)\b\d{1,2}\.$")
BREAK = regex.compile(r"(?P<stop>[.!?…]+[\"”'’)\]*_~`]*)(?=\s+\S)|(?P<wide>[。！？।؟]+[」』”]*)|(?P<line>[ \t]*\n)")


def _is_break(text: str, found: "regex.Match[str]", begin: int) -> bool:
    """Say whether a full stop at `found` ends a sentence that began at `begin`."""
    if found.group("stop") is None:
        return True
    so_far, rest = text[begin : found.end()], text[found.end() :].lstrip()
    if found.group("stop") == ".":
        if ABBREVIATION.search(so_far) or (DAY_NUMBER.search(so_far) and is_month(rest)):
            return False
        return not rest[0].islower()
    return not (found.group("stop").startswith(("...", "…")) and rest[0].islower())


def split(text: str, whole: list[tuple[int, int]] | None = None) -> list[Sentence]:
    """Cut a text into sentences, never inside one of the `whole` spans (names such as "Kelp Inc.")."""
    inside = sorted(whole or [])
    sentences: list[Sentence] = []
    begin = 0
    for found in BREAK.finditer(text):
        stop = found.start() + 1
        if any(start < stop < end for start, end in inside) or not _is_break(text, found, begin):
            continue
        _keep(sentences, text, begin, found.end())
        begin = found.end()
    _keep(sentences, text, begin, len(text))
    return sentences


def _keep(sentences: list[Sentence], text: str, begin: int, end: int) -> None:
    """Add the trimmed stretch unless it is blank."""
    piece = text[begin:end]
    left = begin + len(piece) - len(piece.lstrip())
    right = begin + len(piece.rstrip())
    if left < right:
        sentences.append(Sentence(left, right))
