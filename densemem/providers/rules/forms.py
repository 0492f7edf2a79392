"""How one verb becomes patterns: each form fixes direction, polarity and time, and must fill the gap between two names exactly."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import regex

ADVERB = (
    r"(?:(?:currently|now|also|still|officially|formally|mainly|primarily|jointly|usually|already|recently|just|then|later|subsequently"
    r"|eventually|first|originally|successfully|today|finally|directly)\s+)"
)
_PAST_ADVERB = r"(?:(?:also|officially|formally|mainly|primarily|jointly|recently|just|then|later|subsequently|eventually|first|originally|finally)\s+)"
_OUT = r"[*_`\"”’)]{0,4}\s+"
_TITLE = r"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.?\s+)?"
_SORT = r"(?:(?:project|team|company|firm|startup|city\s+of|town\s+of|village\s+of|ticket|issue|service)\s+)?"
_IN = rf"\s+(?:(?:the|an?|our|its|his|her|their|my|your)\s+)?{_SORT}{_TITLE}[*_`\"“]{{0,4}}"


@dataclass(frozen=True, slots=True)
class Form:
    """One pattern. `flip` means that the object comes first; `slot` names a text value that `gap` itself captures as `v`.

    `sure` asks for kinds that somebody vouches for; `loose` means that the phrase is an aside, so that what follows is free.
    """

    key: str
    source: str
    wording: str | None = None
    flip: bool = False
    before_source: str | None = None
    after_source: str | None = None
    negative: bool = False
    ended: bool = False
    bare: bool = False
    sure: bool = False
    loose: bool = False
    slot: str | None = None

    @property
    def gap(self) -> "regex.Pattern[str]":
        """What stands between the two names, compiled when it is first needed."""
        return compiled(self.source)

    @property
    def before(self) -> "regex.Pattern[str] | None":
        """What must stand just before the first name."""
        return compiled(self.before_source) if self.before_source else None

    @property
    def after(self) -> "regex.Pattern[str] | None":
        """What must stand just behind the second name."""
        return compiled(self.after_source) if self.after_source else None


@cache
def compiled(source: str) -> "regex.Pattern[str]":
    """Compile an expression once; there are about a thousand and a process uses few."""
    return regex.compile(source)


def spaced(phrase: str) -> str:
    """Turn the blanks of a phrase into any white space."""
    return regex.sub(r" +", r"\\s+", phrase)


def gap(phrase: str, *, right: str = _IN, left: str = _OUT) -> str:
    """Write the expression for the text between two names."""
    return left + spaced(phrase) + right


def state(key: str, verb: str, rest: str = "", *, flip: bool = False, sure: bool = False) -> Iterator[Form]:
    """Make the forms of a state verb; `verb` is "base third past"."""
    base, third, past = verb.split()
    tail = f" {rest}" if rest else ""
    yield Form(key, gap(f"{ADVERB}?(?P<w>{third}{tail})"), flip=flip, sure=sure)
    yield Form(key, gap(f"{ADVERB}?(?P<w>{base}{tail})"), flip=flip, sure=sure, bare=True)
    yield Form(
        key, gap(f"(?:does|do)(?: not|n['’]t) {ADVERB}?(?P<w>{base}{tail})"), flip=flip, sure=sure, negative=True
    )
    yield Form(key, gap(f"never (?P<w>{third}{tail})"), flip=flip, sure=sure, negative=True)
    yield Form(key, gap(f"no longer (?P<w>{third}{tail})"), flip=flip, sure=sure, ended=True)
    yield Form(key, gap(f"used to (?P<w>{base}{tail})"), flip=flip, sure=sure, ended=True)
    yield Form(
        key,
        gap(f"(?:{_PAST_ADVERB}|formerly |previously |once )?(?P<w>{past}{tail})"),
        flip=flip,
        sure=sure,
        ended=True,
    )


def being(key: str, rest: str, *, flip: bool = False, sure: bool = False, name: str | None = None) -> Iterator[Form]:
    """Make the forms of "is <rest>"; the wording is the plain one, whatever adverb or negation stands inside."""
    plain = name or rest
    now, past = f"is {plain}", f"was {plain}"
    yield Form(key, gap(f"(?:is|are) {ADVERB}?{rest}"), now, flip=flip, sure=sure)
    yield Form(
        key, gap(f"(?:(?:is|are)(?: not|n['’]t)|was never) {ADVERB}?{rest}"), now, flip=flip, sure=sure, negative=True
    )
    yield Form(key, gap(f"(?:is|are) no longer {rest}"), now, flip=flip, sure=sure, ended=True)
    yield Form(
        key,
        gap(f"(?:used to be|(?:was|were) (?:{_PAST_ADVERB}|formerly |previously |once )?) ?{rest}"),
        past,
        flip=flip,
        sure=sure,
        ended=True,
    )


def event(key: str, verb: str, rest: str = "", *, flip: bool = False, sure: bool = False) -> Iterator[Form]:
    """Make the forms of something that happened; `verb` is "base past participle"."""
    base, past, participle = verb.split()
    tail = f" {rest}" if rest else ""
    yield Form(key, gap(f"{_PAST_ADVERB}?(?P<w>{past}{tail})"), flip=flip, sure=sure)
    yield Form(key, gap(f"(?P<w>(?:has|have) {participle}{tail})"), flip=flip, sure=sure)
    yield Form(key, gap(f"(?:has|have) {ADVERB}(?P<w>{participle}{tail})"), flip=flip, sure=sure)
    yield Form(key, gap(f"did(?: not|n['’]t) (?P<w>{base}{tail})"), flip=flip, sure=sure, negative=True)
    yield Form(key, gap(f"never (?P<w>{past}{tail})"), flip=flip, sure=sure, negative=True)
    yield Form(
        key,
        gap(f"(?:has|have)(?: not|n['’]t| never) {ADVERB}?(?P<w>{participle}{tail})"),
        flip=flip,
        sure=sure,
        negative=True,
    )


def happened(key: str, rest: str, *, flip: bool = False, sure: bool = False, name: str | None = None) -> Iterator[Form]:
    """Make the forms of "was <rest>" for something that happened."""
    wording = f"was {name or rest}"
    yield Form(key, gap(f"(?:was|were|has been|have been) {_PAST_ADVERB}?{rest}"), wording, flip=flip, sure=sure)
    yield Form(
        key,
        gap(f"(?:(?:was|were|has|have)(?: not|n['’]t| never))(?: been)? {rest}"),
        wording,
        flip=flip,
        sure=sure,
        negative=True,
    )


def aside(
    key: str, phrase: str, wording: str, *, flip: bool = False, sure: bool = False, after: str | None = None
) -> Form:
    """Make a phrase without a verb of its own, such as ", CEO of": what follows it in the sentence is free."""
    ends = spaced(after) if after else None
    return Form(key, spaced(phrase) + r"[*_`\"“]{0,4}", wording, flip=flip, sure=sure, loose=True, after_source=ends)


def framed(
    key: str,
    before: str,
    between: str,
    after: str,
    wording: str,
    *,
    flip: bool = False,
    ended: bool = False,
    negative: bool = False,
    sure: bool = False,
) -> Form:
    """Make a pattern with words before the first or behind the second name, as other languages need."""
    return Form(
        key,
        between,
        wording,
        flip=flip,
        ended=ended,
        negative=negative,
        sure=sure,
        before_source=rf"(?:{before})$" if before else None,
        after_source=after or None,
    )


def slotted(
    key: str,
    phrase: str,
    slot: str,
    value: str,
    *,
    wording: str | None = None,
    ended: bool = False,
    negative: bool = False,
    sure: bool = False,
) -> Form:
    """Make a pattern whose object is a text value that it captures itself."""
    quoted = rf"(?P<q>[*_`\"“]{{0,2}})(?P<v>{value})[*_`\"”]{{0,2}}"
    pattern = rf"[*_`\"”’)]{{0,4}}\s*{spaced(phrase)}\s*{quoted}(?!\w)(?<![.,])"
    return Form(key, pattern, wording, slot=slot, ended=ended, negative=negative, sure=sure)
