"""What may stand around a match. Before and behind it only listed forms are let through: an unknown lead or tail means pending."""
# ruff: noqa: E501 - an expression is read as one line

import regex

from densemem.core.denial import DENYING
from densemem.providers.rules import lexicon
from densemem.providers.rules.dates import DATE_TEXT
from densemem.providers.rules.shapes import Gate, Sentence


def _words(words: tuple[str, ...]) -> str:
    """Turn a word list into one alternation."""
    return "|".join(words)


_NAME = r"\p{Lu}[\p{L}\p{N}&.'’-]*(?:\s(?:of|de|the|and)?\s?\p{Lu}[\p{L}\p{N}&.'’-]*){0,4}"
_WHEN = rf"(?:(?:early|late|mid|the\s(?:spring|summer|autumn|fall|winter)\sof)[\s-])?{DATE_TEXT}"
UNSETTLING = regex.compile(
    rf"(?<![\p{{L}}.@/-])(?:{_words(lexicon.UNSETTLING)})(?![\p{{L}}-])|(?<!\p{{L}})may(?!\s\d|\p{{L}})|\?!|\bor so\b|\bnot sure\b|\bto be confirmed\b",
    regex.IGNORECASE,
)
_MAY = regex.compile(r"(?<!\p{L})May(?!\p{L})")
FORMER = regex.compile(
    r"(?<!\p{L})(?:originally|formerly|previously|once|ex|late|then|future|incoming|outgoing|designate|elect|aspiring|would-be)(?!\p{L})",
    regex.IGNORECASE,
)
RETRACTING = regex.compile(rf"(?<![\p{{L}}-])(?:{_words(lexicon.RETRACTING)})(?![\p{{L}}])", regex.IGNORECASE)
_REFUSING = regex.compile(
    rf"^\W*(?:\w+\W+)?(?:{_words(lexicon.REFUSING)})(?!\p{{L}})|不对|错了|说错|更正|开玩笑|間違|違い|嘘",
    regex.IGNORECASE,
)
_REFERRING = regex.compile(
    r"^[*(\[\"“]*(?:(?:or|and|but|at least|so|well)\s)?(?:this|that|these|those|none|all|the above|above|it|which|what|he|she|they|such|just|only|please|source|who)\b",
    regex.IGNORECASE,
)
_REMARK = regex.compile(
    r"[\W]*\p{L}[\p{Ll}'’-]*(?:\s[\p{Ll}'’-]+){0,2}[\W]*|.*\b[Mm]ade\s(?:\w+\s)?up\b.*|[Ss]ource: .*|.*\b[Tt]o be (?:confirmed|checked|verified|decided)\b.*"
)
_POINTING = regex.compile(
    r"^\W*(?:everything|nothing|this|that|these|those|none|all of|the above|above)\b", regex.IGNORECASE
)
STAGED = regex.compile(
    rf"(?<![\p{{L}}-])(?:{regex.sub(chr(10) + ' *', '', lexicon.STAGED)})(?![\p{{L}}-])", regex.IGNORECASE
)

_BULLET = r"(?:[-*•+–]\s+|\d{1,2}[.)]\s+|#{1,6}\s+|\[x\]\s+)?"
_TITLE = r"(?:(?:(?:American|British|English|German|French|Canadian|Indian|Australian|Italian|Russian|Chinese|Japanese)\s+)?(?:Dr|Mr|Mrs|Ms|Prof|Sir|Dame|Lord|Lady|Professor|Doctor|President|Chairman|CEO|Director|Senator|Governor|King|Queen|Prince|Princess|Captain|Colonel|General|Rev|Coach|Chef|actor|actress|singer|author|writer|artist)\.?\s+)?"
_LABEL = r"(?:(?i:FYI|News|Good news|Update|Status|Note|Info|Reminder|Minutes|Team update|Decision|Decided|Agreed|Confirmed|Done|Heads up|For the record|By the way|BTW|For your information)[:,]?\s+)?"
_TIME = rf"(?:(?i:From|Between)\s+{_WHEN}\s+(?:to|until|and)\s+{_WHEN},?\s+|(?i:In|On|Since|As of|From|By|During|Around)\s+{_WHEN},?\s+|(?i:Currently|Now|Today|Yesterday|Also|Additionally|Then|Later|Recently|Meanwhile|This week|Last week|This month|Last month|Since then|As of today|As before|Again|Furthermore|Moreover|In addition),?\s+)?"
_PARTICIPLE = rf"(?:(?:Founded|Established|Formed|Created|Incorporated|Headquartered|Based|Located|Born)\s+(?:in|on)\s+(?:the\s+)?(?:{_WHEN}|{_NAME}(?:,\s{_NAME})?)(?:\s+(?:in|by)\s+{_NAME}(?:,\s{_NAME})?)?,\s+)?"
_BEFORE = rf"(?:(?:Prior to|Before|After)\s(?:joining|founding|co-founding|leaving)\s(?:the\s)?[\p{{L}}.&’' ]{{2,60}}?(?:\sin\s{_WHEN})?,\s)?"
_PLACE = rf"(?:[Ii]n\s+{_NAME},\s+)?"
_SORT = r"(?:(?i:project|team|company|product|service|gateway|ticket|issue|action item|task|tool|library|document|colleague|our colleague|department|squad|city|server|app|application|module)\s+)?"
_THE = r"(?:(?i:the|our|a|an|die|der|das|le|la|les|el|los|las|l['’])\s*)?"
_ENVIRONMENT = r"(?:[Ii]n\s+(?:the\s+)?(?P<env>production|staging|prod|(?:unit|integration|load)\s+tests?|(?:[\w-]+\s){1,2}?environment),?\s+)?"
LEAD = regex.compile(
    rf"\s*{_BULLET}[*_`]{{0,3}}{_LABEL}{_ENVIRONMENT}{_TIME}{_PARTICIPLE}{_BEFORE}{_PLACE}{_THE}{_SORT}{_TITLE}[*_`\"“]{{0,3}}"
)
NESTED = regex.compile(
    rf"(?:He|She|It|The\s\p{{L}}+|{_NAME})\s(?:is|was)\s(?!not|never)(?:[\p{{L}}'’-]+\s){{0,9}}?(?:of|by|with|for|at|to|through|from|after)\s(?:the\s)?(?:{_SORT})"
)
_EXTENT = regex.compile(
    rf"\b(?P<prep>in|on|since|from|by|during|between)\s+(?P<when>{_WHEN})(?:\s+(?:to|until|and)\s+(?P<until>{_WHEN}))?",
    regex.IGNORECASE,
)

_ADJUNCT = regex.compile(
    rf"""\s*(?:
      ,?\s*(?P<prep>on|in|since|from|until|till|as\sof|by|at|during|for|through|to|around|between|seit|bis|depuis|desde|hasta)\s+(?:the\s)?(?P<when>{_WHEN})(?:\s*(?:and|[-–])\s*{_WHEN})?
    | \s(?P<near>yesterday|today|now|currently|this\s(?:morning|week|month|year)|last\s(?:week|month|year|night)|again|too|as\sbefore|as\swell|already|officially|full[- ]time|part[- ]time)(?![\p{{L}}])
    | \s*,?\s+(?:in|at|near|von)\s+(?:the\s)?{_NAME}(?:,\s{_NAME})?
    | ,\s\p{{Lu}}\p{{L}}+(?:\s\p{{Lu}}\p{{L}}+)?(?=\s*[.,;]|$|\s(?:in|with|where)\s)
    | ,\s\p{{Lu}}\.\p{{Lu}}\.(?:\p{{Lu}}\.)?
    | \s*\(\s*(?:{_NAME}|{_WHEN}(?:\s?[-–]\s?(?:{_WHEN}|present))?|[\p{{Lu}}\d&]{{2,8}}(?:\s*:\s*[\p{{Lu}}.]+)?)\s*\)
    | \s+as\s+(?:an?|the|its|our|their)\s+(?P<role>[a-z][\w-]*(?:\s[a-z][\w-]*){{0,3}})
    | \s+together\s+with\s+[\p{{L}}\s]{{2,40}}(?=[.;,]|$)
    | \s+in\s+chat(?!\p{{L}})
    | \s+but\s+not\s+(?P<butnot>{_NAME})
    | \s+after\s+(?:the\s)?(?:[\p{{Ll}}-]+\s){{0,2}}(?:meeting|vote|review|call|release|launch|demo)(?!\p{{L}})
    | \s*,?\s*(?:Inc|Ltd|Corp|Co|LLC)\b\.?
    )""",
    regex.VERBOSE,
)
_SCOPE = regex.compile(
    r"\s*,?\s*(?P<scope>(?:in|on|for|at|during|within)\s+(?:(?:the|all|our|new|every)\s+){0,2}(?:[\p{L}-]+\s){0,2}?[\p{Ll}-]+)(?=\s*[.;,]|$)"
)
_ENV_TAIL = regex.compile(
    r"\s+in\s+(?:the\s+)?(?P<env>production|staging|prod|(?:unit|integration|load)\s+tests?|(?:[\w-]+\s){1,2}?environment)(?=\s*[.;,]|$)"
)
_STOP = regex.compile(r"[\s*_`\"”’)\]~]*(?:[.!。！।]+[\"”’)*_`\s]*)?(?::[\w-]+:)?\s*")
_GOES_ON = regex.compile(
    r"""\s*(?:
      ;\s | ,?\s+and\s | ،\s+و | \s+и\s | ,\s+а\s
    | ,\s+(?:who|whose|where)\s
    | ,\s+so\s+(?:please|bring|use|ask|mail|send|plan|keep|call|check|she\scan|he\scan|they\scan|we\scan|you\scan|holiday\srequests|requests)\b
    | ,\s+(?:please|press\srelease\sis|which\s(?:is\sfine|makes|operates|provides|offers|runs|owns))\s
    )""",
    regex.VERBOSE,
)
_SOFT = regex.compile(
    r"""\s*(?:
      ,\s+(?:an?|the|one\sof)\s[\p{L}]
    | ,\s+which\s(?:acquired|provides|operates|owns|manufactures|develops|offers|runs|makes|sells|has|had|was\sfounded|is\sbased|is\sheadquartered)\s
    | ,\s+(?:also|then|before|after|followed\sby|having|becoming|serving|working|including|specializing|specialising|providing|making|
        leading|focusing|with|while|when|later|located|based|headquartered|founded|established|created|formed|recently|operating|offering|known|as|part\sof|owned|led|to|from|in|at|on|for)\s
    | \s+(?:before|after|when|where|who|while|then|including|specializing|focusing|focused|located|under|near|majoring|through|with|to|as|
        for|at|of|in|on|by|into|alongside|along\swith|during|upon|following|since|until|from|between|founded|established|based|headquartered|but\salso)\s
    | \s*\(
    )""",
    regex.VERBOSE,
)
_SORT_OF = regex.compile(
    r",\s+(?:an?|the|one\sof\sthe)\s(?:[\p{L}-]+\s){0,6}?(?:company|firm|platform|service|startup|agency|provider|organi[sz]ation|network|software|group|bank"
    r"|maker|manufacturer|studio|consultancy|charity|foundation|institute|school|university|brand|label|newspaper|magazine|website|team)(?!\p{L})"
)
_PURPOSE = regex.compile(
    r"\s+to\s(?:support|manufacture|develop|provide|create|build|sell|offer|help|promote|make|produce|publish|distribute)\s\p{Ll}"
)
_SUBSTANCE = regex.compile(r"\p{Lu}\p{L}+|\d{2,}")


class Tail:
    """What stands behind a match: its adjuncts, and whether the rest is one of the listed ways to go on."""

    __slots__ = ("end", "environment", "fine", "near", "role", "scope", "soft", "spans")

    def __init__(self, text: str, begin: int, end: int) -> None:
        self.end, self.near = begin, False
        self.environment: str | None = None
        self.role: tuple[int, int] | None = None
        self.scope: str | None = None
        self.spans: list[tuple[str, str]] = []
        self._take_adjuncts(text, end)
        self.fine, self.soft = self._judge(text, end)

    def _take_adjuncts(self, text: str, end: int) -> None:
        """Step over dates, places and the like."""
        while True:
            environment = _ENV_TAIL.match(text, self.end, end)
            if environment:
                self.environment, self.end = environment.group("env"), environment.end()
            found = _ADJUNCT.match(text, self.end, end)
            if not found or found.end() == self.end:
                return
            if found.group("when"):
                self.spans.append((found.group("prep"), found.group("when")))
            if found.group("role"):
                self.role = found.span("role")
            self.near = self.near or bool(found.group("near"))
            self.end = found.end()

    def _judge(self, text: str, end: int) -> tuple[bool, bool]:
        """Say whether the rest is the end or a listed continuation, and whether it is a looser one."""
        if _STOP.fullmatch(text, self.end, end) or _GOES_ON.match(text, self.end, end):
            return True, True
        scope = _SCOPE.match(text, self.end, end)
        if scope:
            self.scope = scope.group("scope")
            return True, True
        soft = _SOFT.match(text, self.end, end) and _SUBSTANCE.search(text, self.end, end)
        return False, bool(soft or _SORT_OF.match(text, self.end, end) or _PURPOSE.match(text, self.end, end))


def lead_fits(text: str, begin: int, end: int) -> "regex.Match[str] | None":
    """Return the match when everything before the first name is a listed opening."""
    return LEAD.fullmatch(text, begin, end)


def nested_fits(text: str, begin: int, end: int) -> bool:
    """Say whether an aside stands in a plain sentence such as "She was the daughter of S and his wife O"."""
    return bool(NESTED.fullmatch(text, begin, end))


def lead_spans(text: str, begin: int, end: int) -> list[tuple[str, str]]:
    """Return (preposition, date) of an opening such as "In 2012," or "From 2015 to 2019"."""
    found = _EXTENT.search(text, begin, end)
    if not found:
        return []
    first = (found.group("prep").lower(), found.group("when"))
    return [("from", first[1]), ("until", found.group("until"))] if found.group("until") else [first]


def environment_of(words: str | None) -> str | None:
    """Turn "the demo environment" into the scope "environment=demo"."""
    if not words:
        return None
    name = regex.sub(r"\s+environment$", "", " ".join(words.lower().split()))
    return f"environment={'production' if name == 'prod' else name}"


def unsettled(text: str, begin: int, end: int) -> bool:
    """Say whether a doubting, reporting or planning word stands in this stretch."""
    return any(not _MAY.fullmatch(found.group()) for found in UNSETTLING.finditer(text, begin, end))


def denied(text: str, begin: int, end: int) -> bool:
    """Say whether a word of denial stands in this stretch."""
    return bool(DENYING.search(text, begin, end))


def retracted(text: str, sentence: Sentence, following: list[Sentence]) -> bool:
    """Say whether one of the next two sentences may take the statement back."""
    for distance, after in enumerate(following[:2]):
        opening = " ".join(text[after.start : after.end].split()[:9])
        if distance == 0 and _REMARK.fullmatch(opening):
            return True
        if opening.startswith("*") and not opening.startswith(("* ", "**")):
            return True
        refers = bool(_REFERRING.search(opening))
        if (distance == 0 or refers) and (RETRACTING.search(opening) or _REFUSING.search(opening)):
            return True
        if (
            refers
            and (distance == 0 or _POINTING.search(opening))
            and (DENYING.search(opening) or unsettled(opening, 0, len(opening)))
        ):
            return True
    return False


def staged(text: str, sentence: Sentence) -> bool:
    """Say whether the lines just before, or the sentence, declare an invention or an example."""
    return bool(STAGED.search(text, max(0, sentence.start - 300), sentence.end))


def enclosure(text: str, sentence: Sentence, verb: tuple[int, int]) -> Gate | None:
    """Return the gate that fails when the verb stands inside quotation marks, code, or struck text."""
    for pattern, gate in _ENCLOSURES:
        for found in pattern.finditer(text):
            if found.start() < verb[0] and verb[1] < found.end():
                return gate
    line = text.rfind("\n", 0, sentence.start) + 1
    if text[line : sentence.start].lstrip().startswith(">") or text[sentence.start] == ">":
        return Gate.QUOTED
    return None


_ENCLOSURES = (
    (regex.compile(r"```.*?(?:```|\Z)", regex.DOTALL), Gate.CODE),
    (regex.compile(r"(?m)^(?: {4}|\t)\S.*$"), Gate.CODE),
    (regex.compile(r"`[^`\n]+`"), Gate.CODE),
    (regex.compile(r"~~.+?~~", regex.DOTALL), Gate.CODE),
    (regex.compile(r"<(?:s|del|strike|code|pre|blockquote|q)>.*?</", regex.DOTALL | regex.IGNORECASE), Gate.CODE),
    (regex.compile(r"<!--.*?(?:-->|\Z)", regex.DOTALL), Gate.CODE),
    (
        regex.compile(
            r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|‘[^’]*’(?!\p{L})|「[^」]*」|『[^』]*』|《[^》]*》", regex.DOTALL
        ),
        Gate.QUOTED,
    ),
    (regex.compile(r"(?<!\p{L})'[^'\n]{3,}'(?!\p{L})"), Gate.QUOTED),
)
_HEADING = regex.compile(r":\s*[*_]*\s*$")
_BULLETED = regex.compile(r"\s*(?:[-*•+–]|\d{1,2}[.)])\s")


def under_heading(text: str, sentence: Sentence) -> bool:
    """Say whether the sentence is an item of a list, or the line, that a line ending in a colon announces."""
    begin = text.rfind("\n", 0, sentence.start) + 1
    if begin == 0:
        return False
    for line in reversed(text[: begin - 1].split("\n")):
        if _BULLETED.match(line) and not _HEADING.search(line):
            continue
        return bool(_HEADING.search(line))
    return False
