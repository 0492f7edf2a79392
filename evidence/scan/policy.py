"""The identity of the scan policy: a hash of everything that decides what is signalled ("Stage 2")."""

import hashlib
from typing import Final

from densemem.core import limits
from evidence.scan import decode, lexicon, markup, phrases, reading, telling, tongues, views

VERSION: Final = "2"  # raised when the code changes what the tables mean

_TABLES: Final = (
    [(rule.kind.value, rule.severity.value, rule.pattern) for rule in (*reading.PHRASES.rules, *reading.SHAPES)],
    [(rule.kind.value, rule.severity.value, rule.pattern) for rule in lexicon.COMPACT],
    sorted((lexicon.LISTS | tongues.LISTS).items()),
    sorted(phrases.GAPS.items()),
    (views.LOOK_ALIKES, views.LEET, views.PUNCTUATION, views.DISGUISED, views.APART),
    ([pattern for pattern, _ in decode.ALPHABETS], decode.TELLING, decode.BLOCKS, decode.BLOCK_CHARS),
    (markup.UNSEEN, markup.SELECTORS, markup.SPLITS, sorted(markup.QUOTES), markup.COMMENTS, markup.RUNS),
    (telling.SENTENCE, telling.NEGATED, telling.QUOTE_OPEN, telling.REPORTED, telling.BEFORE),
    (reading.WINDOW, reading.WINDOWS, limits.SIGNALS, limits.SCAN_MATCHES, limits.SCAN_DECODED_CHARS),
)

POLICY_HASH: Final = hashlib.sha256(f"{VERSION}{_TABLES!r}".encode()).hexdigest()
