"""What is hidden in a text or would act if it were shown: control characters, chat tokens, live markup ("Stage 2").

Everything is looked for by its shape; nothing is parsed as a page and nothing is executed.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from evidence.scan.automaton import any_of
from evidence.scan.model import Rule, Signal
from evidence.vocabulary import Severity, SignalKind

HIDDEN, ROLE = SignalKind.HIDDEN_CONTROL_MARKUP, SignalKind.ROLE_CONTROL_SPOOFING
TOOL = SignalKind.TOOL_EXFILTRATION
LOW, MEDIUM, HIGH, CRITICAL = Severity.LOW, Severity.MEDIUM, Severity.HIGH, Severity.CRITICAL
COMMENTS: Final = 1_000  # of one page
RUNS: Final = 1_000  # of characters that are not seen

# Over the normalised text.
SHAPES: Final = tuple(
    Rule(kind, severity, pattern)
    for kind, severity, pattern in (
        (ROLE, CRITICAL, r"<\|[a-z][a-z0-9_ -]{1,30}\|>"),
        (ROLE, CRITICAL, r"\[/?inst\]"),
        (ROLE, CRITICAL, r"<</?sys>>"),
        (ROLE, CRITICAL, r"<(?:start|end)_of_turn>"),
        (ROLE, HIGH, r"\n\n(?:human|assistant): ?(?=[^\n]{0,300}\n\n(?:human|assistant):)"),
        (
            ROLE,
            MEDIUM,
            r"(?:^|(?<=\n))[ \t>*#\[(<{_=-]{0,8}+system(?: (?:note|notice|message|prompt|override|instructions?|update|alert))?"
            r"[ \t\])>}*_]{0,4}+:",
        ),
        (ROLE, MEDIUM, r"[<\[{(][/\\]?(?:now entering |begin |end )?system(?:[ _:][\w:]{1,14}){0,6}[>\]})]"),
        (
            ROLE,
            MEDIUM,
            r"[<\[{][/\\]?(?:now entering )?[a-z]{2,14}(?:[ _][a-z]{2,14}){0,3}[ _]mode(?: activated)?[>\]}]",
        ),
        (ROLE, MEDIUM, r"[<\[{](?:[a-z]{2,14}[ _]){1,5}override(?:[ _:][\w]{1,14}){0,4}"),
        (ROLE, LOW, r"(?:^|(?<=\n))[ \t]{0,4}override ?:"),
        (ROLE, MEDIUM, r"[-#=*%]{3,20}[ ]?end(?: of)? [a-z ]{2,30}[ ]?[-#=*%]{3,20}"),
        (HIDDEN, CRITICAL, r"<script\b[^<>]{0,500}>"),
        (HIDDEN, CRITICAL, r"<i?frame\b[^<>]{0,500}>?"),
        (HIDDEN, CRITICAL, r"<object\b[^<>]{0,500}\b(?:data|type|classid)\s?="),
        (HIDDEN, CRITICAL, r"<embed\b[^<>]{0,500}\bsrc\s?="),
        (HIDDEN, CRITICAL, r"<[a-z][a-z0-9]{0,15}\b[^<>]{0,300}?[\s/\"']on[a-z]{3,20}\s{0,3}=\s{0,3}[\"'a-z]"),
        (
            HIDDEN,
            CRITICAL,
            r"(?:\b(?:href|src|action|formaction)\s{0,3}=\s{0,3}[\"']?|\]\()\s{0,3}javascript\s{0,3}:",
        ),
        (HIDDEN, CRITICAL, r"(?:href|src)\s{0,3}=\s{0,3}[\"']?data:text/html"),
        (
            HIDDEN,
            HIGH,
            r"<[a-z][a-z0-9]{0,15}\b[^<>]{0,300}?\bstyle\s{0,3}=\s{0,3}[\"'][^\"'<>]{0,300}?(?:display\s{0,3}:\s{0,3}none|"
            r"visibility\s{0,3}:\s{0,3}hidden|font-size\s{0,3}:\s{0,3}[01](?:px|pt|em)?\s{0,3}[;\"']|"
            r"opacity\s{0,3}:\s{0,3}0(?![.\d]))",
        ),
        (TOOL, MEDIUM, r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}[?&][\w-]{1,30}=[^)\n]{0,40}[{<\[]"),
        (
            TOOL,
            MEDIUM,
            r"\b(?:call|use|invoke|run|execute|trigger|using) (?:the )?[`'\"]?(?:send|email|http|post|delete|write|exec|execute|"
            r"fetch|upload|transfer|read|run|get|web|file|shell|browser)_\w{2,30}",
        ),
    )
)

# Characters nobody sees, on the original text: first and last of each run of codes.
UNSEEN: Final = (
    (0x00, 0x08), (0x0B, 0x0B), (0x0E, 0x1F), (0x7F, 0x7F), (0x180E, 0x180E), (0x200B, 0x200D), (0x202D, 0x202E),
    (0x2060, 0x2064), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xE0000, 0xE01EF),
)  # fmt: skip
CONTROL: Final = r"[\x00-\x08\x0b\x0e-\x1f\x7f]"
_UNSEEN: Final = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSEEN) + "]+")
_UNSEEN_PRESENT: Final = any_of("[" + "".join(rf"\x{{{one:x}}}-\x{{{last:x}}}" for one, last in UNSEEN) + "]")
_CONTROL: Final = re.compile(CONTROL)
FLAG: Final = "\U0001f3f4"
SELECTORS: Final = 4
SPLITS: Final = 3

QUOTES: Final = frozenset("\"'`")


def hidden(text: str) -> Iterator[Signal]:
    """Yield the signals of characters that are not seen, on the original text."""
    if not _UNSEEN_PRESENT.present(text):
        return
    splits: list[Signal] = []
    for run in islice(_UNSEEN.finditer(text), RUNS):
        severity = _severity_of_run(run.group(), text[run.start() - 1 : run.start()])
        if severity is not None:
            yield Signal(*run.span(), HIDDEN, severity)
        elif _between_latin(text, *run.span()):
            splits.append(Signal(*run.span(), HIDDEN, MEDIUM))
    if len(splits) >= SPLITS:
        yield from splits


def _severity_of_run(run: str, before: str) -> Severity | None:
    """Judge a run of unseen characters; None for joiners, selectors of one emoji and the tags of a flag."""
    tags = sum("\U000e0000" <= char <= "\U000e007f" for char in run)
    selectors = sum("\ufe00" <= char <= "\ufe0f" or char >= "\U000e0100" for char in run)
    if tags and (before != FLAG or tags > 8) or selectors >= SELECTORS:
        return CRITICAL
    if _CONTROL.search(run) or "\u202d" in run or "\u202e" in run:
        return MEDIUM
    return None


def _between_latin(text: str, start: int, end: int) -> bool:
    """Answer whether Latin letters stand on both sides of a run."""
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    return len(around) == 2 and around.isascii() and around.isalpha()


def is_shown(text: str, start: int, end: int) -> bool:
    """Answer whether quotation marks or back-ticks stand right around a match."""
    return start > 0 and end < len(text) and text[start - 1] in QUOTES and text[end] in QUOTES


def comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the comments of a page; one that is never closed runs to the end."""
    place = text.find("<!--")
    for _ in range(COMMENTS):
        if place < 0:
            return
        end = text.find("-->", place + 4)
        end = len(text) if end < 0 else end + 3
        yield place, end
        place = text.find("<!--", end)
