"""The identity of the scan policy: a hash of everything that decides what is signalled ("Stage 2")."""

import hashlib
from typing import Final

from densemem.core import limits
from evidence.scan import decode, lexicon, markup, phrases, reading, telling, tongues, views

VERSION: Final = "2"  # raised when the code changes what the tables mean


def policy_hash() -> str:
    """Hash every table and limit of the scan."""
    tables = (
        [(rule.kind.value, rule.severity.value, rule.pattern) for rule in (*reading.PHRASES.rules, *reading.SHAPES)],
        [(rule.kind.value, rule.severity.value, rule.pattern) for rule in lexicon.COMPACT],
        sorted((lexicon.LISTS | tongues.LISTS).items()),
        (sorted(phrases.GAPS.items()), phrases.MARKS),
        (views.LOOK_ALIKES, views.LEET, views.PUNCTUATION, views.DISGUISED, views.APART, views.WORD_GAP),
        ([pattern for pattern, _ in decode.ALPHABETS], decode.TELLING, decode.BLOCKS, decode.BLOCK_CHARS),
        (
            markup.UNSEEN,
            markup.CONTROL,
            markup.SELECTORS,
            markup.SPLITS,
            sorted(markup.QUOTES),
            markup.COMMENTS,
            markup.RUNS,
        ),
        (telling.SENTENCE, telling.NEGATED, telling.QUOTE_OPEN, telling.REPORTED, telling.BEFORE),
        (reading.WINDOW, reading.WINDOWS, limits.SIGNALS, limits.SCAN_MATCHES, limits.SCAN_DECODED_CHARS),
    )
    return hashlib.sha256(f"{VERSION}{tables!r}".encode()).hexdigest()


POLICY_HASH: Final = policy_hash()
