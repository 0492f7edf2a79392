"""The lookup key of a name ("Entity Identity And Resolution").

Keys find records; they never replace what was written.
"""

import re
import unicodedata
from typing import Final

from densemem.core.faults import Refused
from densemem.core.limits import NAME_KEY_CHARS

# Marks that show nothing and change no letter. Joiners (U+200C, U+200D) are kept: some scripts need them.
MARKS: Final = (0x00AD, 0x061C, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
FILLERS: Final = (0x115F, 0x1160, 0x3164, 0xFFA0)  # letters of Hangul that show nothing
VARIANTS: Final = (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))  # how a character is drawn, not which it is
INVISIBLE: Final = dict.fromkeys((*MARKS, *FILLERS, *VARIANTS))
VISIBLE = frozenset("LNPS")
BAD: Final = re.compile("[\0\ud800-\udfff]")


class NameRefused(Refused):
    """A name that cannot be looked up: nothing visible in it, too long, or characters no table can hold."""

    code = "name_refused"


def fold(text: str) -> str:
    """Return `text` for comparing: NFKC, case-folded, white space collapsed. Accents and scripts stay as they are."""
    if text.isascii():  # most names: no other form, and no case but the lower one
        return " ".join(text.lower().split())
    once = _casefold(text.translate(INVISIBLE))
    return " ".join(_casefold(once).split())


def lookup_key(name: str) -> str:
    """
    Return the key under which a name is found.

    :raises NameRefused: nothing visible is left, the key is too long, or the name holds NUL or a lone surrogate
    """
    if BAD.search(name):
        raise NameRefused("A name must not hold NUL or a lone surrogate.", code="name_has_bad_character")
    key = fold(name)
    if not any(unicodedata.category(char)[0] in VISIBLE for char in key):
        raise NameRefused("A name must hold at least one visible character.", code="name_is_empty")
    if len(key) > NAME_KEY_CHARS:
        raise NameRefused(f"The key of a name has at most {NAME_KEY_CHARS} characters.", code="name_is_too_long")
    return key


def _casefold(text: str) -> str:
    """Fold case between two normalisations, as folding may undo the first."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
