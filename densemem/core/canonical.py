"""One byte form for one content: canonical JSON, and digests of it.

Equal content always gives equal bytes: keys are sorted, nothing is spaced, whole floats are written as integers.
"""

import hashlib
import hmac
import json
import math
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

from densemem.core.faults import Refused
from densemem.core.times import format_instant

DEPTH_MAX: Final = 64
PLAIN: Final = frozenset({str, int, bool, type(None)})  # JSON already, and no subclass with ways of its own
WHOLE_FLOAT_MAX: Final = 2**53  # above it a float no longer names one integer


class CanonicalRefused(Refused):
    """A content without one canonical form: NaN, keys that are not text, lone surrogates, unknown types, too deep."""

    code = "content_refused"


def canonical_json(content: object) -> bytes:
    """
    Return the canonical UTF-8 JSON of a content.

    Takes None, bool, int, float, text, lists, tuples, mappings with text keys, UUID, date and aware datetime.

    :raises CanonicalRefused: the content has no single form
    """
    plain = _plain(content, depth=0)
    try:
        return json.dumps(plain, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise CanonicalRefused("Text must not hold a lone surrogate.", code="lone_surrogate") from None


def digest(content: object) -> str:
    """
    Return the SHA-256 of a content in hex: bytes as they are, text as UTF-8, anything else as canonical JSON.

    :raises CanonicalRefused: the content has no single form
    """
    return hashlib.sha256(_bytes(content)).hexdigest()


def keyed_digest(key: bytes, text: str) -> str:
    """
    Return the HMAC-SHA-256 of a text in hex; without the key nobody can test a guess of the text.

    :raises CanonicalRefused: the key is empty, or the text holds a lone surrogate
    """
    if not key:
        raise CanonicalRefused("A keyed digest needs a key.", code="key_is_empty")
    return hmac.new(key, _bytes(text), hashlib.sha256).hexdigest()


def keyed_numbers(key: bytes, texts: Iterable[str]) -> frozenset[int]:
    """
    Return a keyed digest of each text as a signed number of 64 bits: what can be compared, and not be read back.

    :raises CanonicalRefused: the key is empty, or a text holds a lone surrogate
    """
    if not key:
        raise CanonicalRefused("A keyed digest needs a key.", code="key_is_empty")
    begun = hashlib.blake2b(key=hashlib.sha256(key).digest(), digest_size=8)
    return frozenset(_number_of(begun.copy(), text) for text in texts)


def _number_of(begun: hashlib.blake2b, text: str) -> int:
    begun.update(_bytes(text))
    return int.from_bytes(begun.digest(), signed=True)


def _bytes(content: object) -> bytes:
    """Return the bytes that a digest covers."""
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        try:
            return content.encode()
        except UnicodeEncodeError:
            raise CanonicalRefused("Text must not hold a lone surrogate.", code="lone_surrogate") from None
    return canonical_json(content)


def _plain(content: object, *, depth: int) -> Any:  # noqa: ANN401 - the value of a JSON tree
    """Return the content as plain JSON types."""
    if type(content) in PLAIN:  # most of every content
        return content
    if depth > DEPTH_MAX:
        raise CanonicalRefused(f"Content must not be nested deeper than {DEPTH_MAX} levels.", code="too_deep")
    if isinstance(content, dict):
        return {_key(key): _plain(value, depth=depth + 1) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(value, depth=depth + 1) for value in content]
    return _leaf(content)


def _key(key: object) -> str:
    """Refuse keys that JSON would turn into text, as 1 and "1" would then meet."""
    if not isinstance(key, str):
        raise CanonicalRefused("Keys must be text.", code="key_is_not_text")
    return str(key)


def _leaf(content: object) -> str | int | float | None:
    """Return a leaf as a plain JSON value."""
    if content is None or isinstance(content, bool):
        return content
    if isinstance(content, str):
        return str(content)
    if isinstance(content, int):
        return int(content)
    if isinstance(content, float):
        return _number(content)
    if isinstance(content, UUID):
        return str(content)
    if isinstance(content, datetime):
        return format_instant(content)
    if isinstance(content, date):
        return content.isoformat()
    raise CanonicalRefused(f"{type(content).__name__} has no canonical form.", code="type_unknown")


def _number(number: float) -> int | float:
    """Write a whole float as an integer, so that 1.0 and 1 are one content."""
    if not math.isfinite(number):
        raise CanonicalRefused("NaN and infinity are no numbers of JSON.", code="number_is_not_finite")
    return int(number) if number.is_integer() and abs(number) <= WHOLE_FLOAT_MAX else number
