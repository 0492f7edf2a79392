"""Taking a text out: who asked and why, what the database's one function removed, and by what copies can be found."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from django.conf import settings

from densemem.core import limits
from densemem.core.canonical import keyed_digest
from densemem.db.insert import insert
from densemem.db.read import fetch
from evidence.models import Redaction, RedactionReceipt
from evidence.policy import identifier_run, name_run, normal_text, runs_of, text_runs, words_in

# By these a guess of the words could be tested, wherever somebody stored one.
PLAIN_DIGESTS: Final = ("md5", "sha1", "sha256", "sha512", "blake2b", "blake2s")

TAKE_OUT: Final = "SELECT place, removed FROM evidence_redact(%(redaction)s)"


def open_redaction(
    *, team_id: UUID, content_id: UUID, fragment_id: UUID, actor_id: UUID, reason: str, now: datetime
) -> UUID:
    """Record who has a text taken out, and why; return the id. The text is still there."""
    made = Redaction(
        team_id=team_id,
        content_id=content_id,
        fragment_id=fragment_id,
        actor_id=actor_id,
        reason=reason,
        recorded_at=now,
    )
    insert([made])
    return made.id


def take_out(redaction_id: UUID) -> dict[str, int]:
    """Turn every row with words of the text into a tombstone; return how many there were, by table.

    The caller holds the items, the words, the names and the records that it concerns.
    """
    return dict(fetch(TAKE_OUT, redaction=redaction_id))


def keep_receipt(
    *, team_id: UUID, redaction_id: UUID, removed: Mapping[str, int], runs: Iterable[str], now: datetime
) -> None:
    """Append what was taken out; it holds no text."""
    row = RedactionReceipt(
        team_id=team_id, redaction_id=redaction_id, removed=dict(removed), runs=sorted(set(runs)), recorded_at=now
    )
    insert([row])


def traces(text: str, names: Collection[str], identifiers: Collection[str] = ()) -> set[str]:
    """Return the keyed digests by which copies of a text, of names and of identifiers are found when all are gone."""
    found = [*map(name_run, names), *map(identifier_run, identifiers)]
    named = [run for run in found if run]
    digests = [(digest,) for words in (text, *names, *identifiers) for digest in _plain_digests(words)]
    return {trace(run) for run in [*text_runs(text, most=limits.REDACTION_RUNS), *named, *digests]}


def repeats(text: str, runs: Collection[str]) -> bool:
    """Tell if a text says again what these traces were made of."""
    words = words_in(text)
    sizes = {int(run.partition(":")[0]) for run in runs}
    return any(trace(run) in runs for size in sizes for run in runs_of(words, size))


def trace(run: tuple[str, ...]) -> str:
    """Return the number of words of a run and its keyed digest, cut to 80 bits."""
    return f"{len(run)}:{keyed_digest(settings.CONTENT_KEY.encode(), ' '.join(run))[:20]}"


def _plain_digests(words: str) -> Iterator[str]:
    """Yield the digests, in hex and without a key, of words and of their usual forms."""
    forms = {words, words.strip(), normal_text(words), words.casefold()}
    for form in forms:
        for name in PLAIN_DIGESTS:
            yield hashlib.new(name, form.encode(), usedforsecurity=False).hexdigest()
        yield hashlib.blake2b(form.encode(), digest_size=32).hexdigest()
