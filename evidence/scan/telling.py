"""Whether a sentence gives an order or only tells of one ("Stage 2: Deterministic Injection Scan")."""

import re
from typing import Final

BEFORE: Final = 160  # characters before a match in which its sentence may say that it only quotes

SENTENCE: Final = r"[.!?\n]\s"
NEGATED: Final = r"(?:\bnot|\bn[o']t|n't|\bnever|\bcannot|\bwithout)(?: to| ever| simply)? \Z"
QUOTE_OPEN: Final = r"[\"'`][^\"'`\n]{0,80}$"
REPORTED: Final = (
    r"\b(?:says?|said|reads?|wrote|writes?|written|quot(?:es?|ed|ing)|called|phrases?|words|wording|sentence|text|string|"
    r"examples?|e\.g|such as|attack(?:s|er|ers)?|injections?|jailbreaks?|malicious|adversar\w{2,4}|phishing|"
    r"asked|asks|told|tells|tried|tries|trying|attempt(?:s|ed|ing)?|instructed|instructs|contain(?:s|ed|ing)?|titled|named|"
    r"warn(?:s|ed|ing)?|detect(?:s|ed|ing|or)?|block(?:s|ed)?|flag(?:s|ged)|report(?:s|ed)?|refus(?:es|ed)|where|why|how|"
    r"sagt|steht|lautet|schrieb|angriff|dit|ecrit|dice|dijo|disse|scritto|говорит|написано)\b"
)

_SENTENCE, _NEGATED = re.compile(SENTENCE), re.compile(NEGATED)
_QUOTE_OPEN, _REPORTED = re.compile(QUOTE_OPEN), re.compile(REPORTED)


def is_negated(text: str, start: int) -> bool:
    """Answer whether a negation stands right before `start`."""
    return _NEGATED.search(text, max(0, start - 16), start) is not None


def is_told(text: str, start: int) -> bool:
    """Answer whether the sentence says, before `start`, that what follows is quoted, reported or discussed."""
    before = text[max(0, start - BEFORE) : start]
    ends = [one.end() for one in _SENTENCE.finditer(before)]
    before = before[ends[-1] :] if ends else before
    return _QUOTE_OPEN.search(before) is not None or _REPORTED.search(before) is not None
