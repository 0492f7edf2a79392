"""Blocks that may hide an instruction: found by their alphabet, decoded once, never again ("Stage 2").

Nothing is executed and nothing decoded is decoded a second time; blocks, their size and their number are bounded.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final
from urllib.parse import unquote

BLOCKS: Final = 2_000  # looked at, of one alphabet; a text of evidence has not that many
BLOCK_CHARS: Final = 8_000
PROBE_CHARS: Final = 96  # enough to tell an opaque block; whole groups of every alphabet

Decoder = Callable[[str], bytes]

_MORSE_LETTERS: Final = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.."
)
_MORSE: Final = dict(zip(_MORSE_LETTERS.split(), "abcdefghijklmnopqrstuvwxyz", strict=True))


def _base64(block: str) -> bytes:
    """Decode base 64 in either alphabet, padded or not, over several lines."""
    plain = re.sub(r"[\s=]", "", block).replace("-", "+").replace("_", "/")
    plain = plain[: len(plain) - (len(plain) % 4 == 1)]
    return base64.b64decode(plain + "=" * (-len(plain) % 4))


def _base32(block: str) -> bytes:
    """Decode base 32, padded or not."""
    plain = re.sub(r"[\s=]", "", block)
    plain = plain[: len(plain) - len(plain) % 8 + {2: 2, 4: 4, 5: 5, 7: 7}.get(len(plain) % 8, 0)]
    return base64.b32decode(plain + "=" * (-len(plain) % 8))


def _hex(block: str) -> bytes:
    """Decode pairs of hexadecimal digits."""
    plain = re.sub(r"\\x|0x|[^0-9a-fA-F]", "", block)
    return bytes.fromhex(plain[: len(plain) // 2 * 2])


def _binary(block: str) -> bytes:
    """Decode groups of eight binary digits."""
    plain = re.sub(r"\s", "", block)
    return bytes(int(plain[at : at + 8], 2) for at in range(0, len(plain) - 7, 8))


def _percent(block: str) -> bytes:
    """Decode percent escapes."""
    return unquote(block.replace("+", " ")).encode("utf-8", "replace")


def _entities(block: str) -> bytes:
    """Decode numeric character references."""
    codes = re.findall(r"&#(x?)([0-9a-fA-F]{2,6});", block)
    points = [int(digits, 16 if base else 10) for base, digits in codes]
    return "".join(chr(point) for point in points if 0 < point < 0xD800).encode()


def _escapes(block: str) -> bytes:
    """Decode four-digit escapes."""
    points = (int(digits, 16) for digits in re.findall(r"\\u([0-9a-fA-F]{4})", block))
    return "".join(chr(point) for point in points if 0 < point < 0xD800).encode()


def _morse(block: str) -> bytes:
    """Decode Morse letters; a stroke parts words."""
    return "".join(" " if one == "/" else _MORSE.get(one, "") for one in block.split()).encode()


ALPHABETS: Final[tuple[tuple[str, Decoder], ...]] = (
    (r"(?<![0-9a-fA-F])(?:(?:\\x|0x)?[0-9a-fA-F]{2}[ ,:]?){12,}+", _hex),
    (r"(?<![01])(?:[01]{8}[ ,]?){6,}+", _binary),
    (r"(?<![A-Z2-7])[A-Z2-7]{24,}+={0,6}", _base32),
    (
        r"(?<![A-Za-z0-9+/_\-])[A-Za-z0-9+/_\-]{16,}+(?:\r?\n[A-Za-z0-9+/_\-]{8,}+(?![ .,;:]))*+={0,2}",
        _base64,
    ),
    (r"(?:%[0-9a-fA-F]{2}[^\s%<>\"]{0,20}+){3,}+", _percent),
    (r"(?:&#(?:x[0-9a-fA-F]{2,6}|[0-9]{2,6});){6,}+", _entities),
    (r"(?:\\u[0-9a-fA-F]{4}){6,}+", _escapes),
    (r"(?<![.\-])(?:[.\-]{1,5}+(?: / | /|/ | )){8,}+[.\-]{0,5}", _morse),
)

_ALPHABETS: Final = tuple((re.compile(pattern), decoder) for pattern, decoder in ALPHABETS)


def blocks(text: str, alphabet: int, chars: int) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, decoded text) of the blocks of one alphabet that decode to readable text, `chars` at most."""
    pattern, decoder = _ALPHABETS[alphabet]
    for match in islice(pattern.finditer(text), BLOCKS):
        start = match.start() - (_unescaped_before(text, match.start()) if decoder is _percent else 0)
        block = text[start : match.end()].rstrip(" ,:")[:BLOCK_CHARS]
        if _readable(block[:PROBE_CHARS], decoder) is None or (decoded := _readable(block, decoder)) is None:
            continue
        chars -= len(block)
        if chars < 0:
            return
        yield start, start + len(block), decoded


def _unescaped_before(text: str, start: int) -> int:
    """Give how many plain characters of the same address stand right before its first escape, 20 at most."""
    before = re.split(r"[\s%<>\"]", text[max(0, start - 20) : start])
    return len(before[-1])


def _readable(block: str, decoder: Decoder) -> str | None:
    """Decode a block; None for an opaque identifier, a digest or an image."""
    try:
        decoded = decoder(block).decode("utf-8", "replace")
    except (ValueError, binascii.Error):
        return None
    shown = sum(char.isprintable() or char.isspace() for char in decoded) - decoded.count("\ufffd")
    return decoded if len(decoded) >= 6 and shown >= 0.85 * len(decoded) else None


# A shifted or turned text is recognised by one of these words, so that no text is decoded without a reason.
TELLING: Final = ("instruction", "previous", "password", "ignore ")
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
SHIFTS: Final = {by: str.maketrans(_LETTERS, _LETTERS[by:] + _LETTERS[:by]) for by in range(1, 26)}
SHIFTED: Final = {by: tuple(word.translate(SHIFTS[26 - by]) for word in TELLING) for by in SHIFTS}
TURNED: Final = tuple(word.strip()[::-1] for word in TELLING)
