"""What is hidden in a text or would act if it were shown: control characters, chat tokens, live markup ("Stage 2").

Everything is looked for by its shape; nothing is parsed as a page and nothing is executed.
"""

import re
from collections.abc import Iterator
from typing import Final

from evidence.scan.model import Signal
from evidence.vocabulary import Severity, SignalKind

HIDDEN, ROLE = SignalKind.HIDDEN_CONTROL_MARKUP, SignalKind.ROLE_CONTROL_SPOOFING
TOOL = SignalKind.TOOL_EXFILTRATION
LOW, MEDIUM, HIGH, CRITICAL = Severity.LOW, Severity.MEDIUM, Severity.HIGH, Severity.CRITICAL

# (kind, severity, a string the text must hold for the pattern to be tried, pattern); the text is lower-case ASCII.
SHAPES: Final[tuple[tuple[SignalKind, Severity, str, str], ...]] = (
    (ROLE, CRITICAL, "<|", r"<\|[a-z][a-z0-9_ -]{1,30}\|>"),
    (ROLE, CRITICAL, "[inst]", r"\[/?inst\]"),
    (ROLE, CRITICAL, "[/inst]", r"\[/inst\]"),
    (ROLE, CRITICAL, "<sys>>", r"<</?sys>>"),
    (ROLE, CRITICAL, "_of_turn", r"<(?:start|end)_of_turn>"),
    (ROLE, HIGH, "human:", r"\n\n(?:human|assistant): ?(?=[^\n]{0,300}\n\n(?:human|assistant):)"),
    (
        ROLE,
        MEDIUM,
        "system",
        r"(?:^|(?<=\n))[ \t>*#\[(<{_=-]{0,8}+system(?: (?:note|notice|message|"
        r"prompt|override|instructions?|"
        r"update|alert))?[ \t\])>}*_]{0,4}+:",
    ),
    (ROLE, MEDIUM, "system", r"[<\[{(][/\\]?(?:now entering |begin |end )?system(?:[ _:][\w:]{1,14}){0,6}[>\]})]"),
    (
        ROLE,
        MEDIUM,
        "mode",
        r"[<\[{][/\\]?(?:now entering )?[a-z]{2,14}(?:[ _][a-z]{2,14}){0,3}[ _]mode(?: activated)?[>\]}]",
    ),
    (ROLE, MEDIUM, "override", r"[<\[{](?:[a-z]{2,14}[ _]){1,5}override(?:[ _:][\w]{1,14}){0,4}"),
    (ROLE, LOW, "override", r"(?:^|(?<=\n))[ \t]{0,4}override ?:"),
    (ROLE, MEDIUM, "end", r"[-#=*%]{3,20}[ ]?end(?: of)? [a-z ]{2,30}[ ]?[-#=*%]{3,20}"),
    (HIDDEN, CRITICAL, "<script", r"<script\b[^<>]{0,500}>"),
    (HIDDEN, CRITICAL, "<iframe", r"<i?frame\b[^<>]{0,500}>?"),
    (HIDDEN, CRITICAL, "<object", r"<object\b[^<>]{0,500}\b(?:data|type|classid)\s?="),
    (HIDDEN, CRITICAL, "<embed", r"<embed\b[^<>]{0,500}\bsrc\s?="),
    (HIDDEN, CRITICAL, "=", r"<[a-z][a-z0-9]{0,15}\b[^<>]{0,300}?[\s/\"']on[a-z]{3,20}\s{0,3}=\s{0,3}[\"'a-z]"),
    (
        HIDDEN,
        CRITICAL,
        "javascript",
        r"(?:\b(?:href|src|action|formaction)\s{0,3}=\s{0,3}[\"']?|\]\()\s{0,3}javascript\s{0,3}:",
    ),
    (HIDDEN, CRITICAL, "text/html", r"(?:href|src)\s{0,3}=\s{0,3}[\"']?data:text/html"),
    (
        HIDDEN,
        HIGH,
        "style",
        r"<[a-z][a-z0-9]{0,15}\b[^<>]{0,300}?\bstyle\s{0,3}=\s{0,3}[\"'][^\"'<>]{0,300}?(?:display\s{0,3}:\s{0,3}none|"
        r"visibility\s{0,3}:\s{0,3}hidden|font-size\s{0,3}:\s{0,3}[01](?:px|"
        r"pt|em)?\s{0,3}[;\"']|opacity\s{0,3}:\s{0,3}0(?![.\d]))",
    ),
    (TOOL, MEDIUM, "](http", r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}[?&][\w-]{1,30}=[^)\n]{0,40}[{<\[]"),
)

# Characters nobody sees, on the original text.
_TAGS = re.compile(
    r"(?<!\U0001f3f4)(?<![\U000e0020-\U000e007f])[\U000e0000-\U000e007f]{1,}+|"
    r"(?<=\U0001f3f4)[\U000e0020-\U000e007f]{9,}+"
)
_SELECTORS = re.compile(r"[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}+")
_OVERRIDES = re.compile("[\u202d\u202e]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]{1,}+")
_SPLITTERS = re.compile(r"(?<=[A-Za-z])[\u200b-\u200d\u2060-\u2064\ufeff\u180e]{1,}+(?=[A-Za-z])")
SPLITS: Final = 3

_SHAPES: Final = tuple((kind, severity, hint, re.compile(pattern)) for kind, severity, hint, pattern in SHAPES)
QUOTES: Final = frozenset("\"'`“”‘’«»「」")


def hidden(text: str) -> Iterator[Signal]:
    """Yield the signals of characters that are not seen, on the original text."""
    if not text.isascii():
        for found in _TAGS.finditer(text):
            yield Signal(*found.span(), HIDDEN, CRITICAL)
        for found in _SELECTORS.finditer(text):
            yield Signal(*found.span(), HIDDEN, CRITICAL)
        for found in _OVERRIDES.finditer(text):
            yield Signal(*found.span(), HIDDEN, MEDIUM)
        splits = list(_SPLITTERS.finditer(text))
        for found in splits if len(splits) >= SPLITS else ():
            yield Signal(*found.span(), HIDDEN, MEDIUM)
    for found in _CONTROLS.finditer(text):
        yield Signal(*found.span(), HIDDEN, MEDIUM)


def shapes(lower: str) -> Iterator[tuple[int, int, SignalKind, Severity]]:
    """Yield the chat tokens and live markup of a lower-case text; a token shown in quotes speaks one step lower."""
    for kind, severity, hint, pattern in _SHAPES:
        if hint not in lower:
            continue
        for found in pattern.finditer(lower):
            start, end = found.span()
            shown = severity is CRITICAL and _is_shown(lower, start, end)
            yield start, end, kind, MEDIUM if shown else severity


def _is_shown(text: str, start: int, end: int) -> bool:
    """Answer whether quotation marks or back-ticks stand right around a match."""
    return start > 0 and end < len(text) and text[start - 1] in QUOTES and text[end] in QUOTES


def comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the comments of a page; one that is never closed runs to the end."""
    place = text.find("<!--")
    while place >= 0:
        end = text.find("-->", place + 4)
        end = len(text) if end < 0 else end + 3
        yield place, end
        place = text.find("<!--", end)
