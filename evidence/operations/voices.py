"""What a new text repeats of those that are stored: near copies ("Source Independence And Fact Promotion")."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final
from uuid import UUID

from densemem.core import limits
from densemem.core.canonical import keyed_numbers
from densemem.db.keyed import team_key
from densemem.db.locks import lock, lock_all
from densemem.db.read import fetch
from evidence.policy import near_copy
from evidence.vocabulary import BINDING

# The texts with which a new one has most of a sample in common: of its own runs when it is the shorter one, of theirs
# when they are, a part of its runs after the other: the index compares all that it is asked for with each other. Hashes
# are keyed for each team, so that none of another team is met. A text that its own voice has said before tells nothing
# new, unless it said it after others, and who said each text first is enough.
ALIKE: Final = """
    SELECT asked.place, kept.hashes, voice.id, voice.group_id
    FROM json_to_recordset(%(asked)s) AS asked(place int, mine uuid, hashes bigint[], sample bigint[])
    CROSS JOIN LATERAL (
      SELECT alike.content_id FROM (
        SELECT kept.content_id, count(*) * 100 / cardinality(asked.sample) AS percent
        FROM unnest(asked.sample) AS hash
        JOIN evidence_shingles AS kept ON kept.hashes @> ARRAY[hash]
        GROUP BY kept.id
        UNION ALL
        SELECT kept.content_id, count(*) * 100 / cardinality(kept.sample)
        FROM generate_series(1, cardinality(asked.hashes), 256) AS n
        CROSS JOIN LATERAL (SELECT asked.hashes[n : n + 255] AS runs) AS part
        JOIN evidence_shingles AS kept ON kept.sample && part.runs
        CROSS JOIN unnest(kept.sample) AS theirs JOIN unnest(part.runs) AS mine ON mine = theirs
        GROUP BY kept.id
      ) AS alike
      WHERE alike.percent >= %(least)s AND NOT EXISTS (
        SELECT FROM evidence_fragment AS said
        WHERE (said.team_id, said.content_id, said.group_id) = (%(team)s, alike.content_id, asked.mine)
          AND NOT EXISTS (
            SELECT FROM evidence_groupjoin AS joined
            WHERE (joined.team_id, joined.fragment_id) = (%(team)s, said.id) AND joined.reason <> ALL(%(binding)s)))
      GROUP BY alike.content_id ORDER BY max(alike.percent) DESC, alike.content_id LIMIT %(most)s
    ) AS near
    JOIN evidence_shingles AS kept ON kept.content_id = near.content_id
    CROSS JOIN LATERAL (
      SELECT said.id, said.group_id FROM evidence_fragment AS said
      WHERE (said.team_id, said.content_id) = (%(team)s, near.content_id) ORDER BY said.seq LIMIT 1
    ) AS voice"""


@dataclass(frozen=True, slots=True)
class Said:
    """A text of an intake: the source group that says it, and its runs; without runs when the words are stored."""

    fragment_id: UUID
    group_id: UUID
    runs: frozenset[int]


def hashed(team_id: UUID, runs: Iterable[str]) -> frozenset[int]:
    """Return keyed hashes of word runs; those of one team mean nothing in another."""
    return keyed_numbers(team_key(team_id), runs)


def sample(runs: Collection[int]) -> list[int]:
    """Return the runs by which a text is found: which ones is up to the key, and the same for all texts."""
    return sorted(runs)[: limits.NEAR_COPY_SAMPLE]


def lock_words(*, team_id: UUID, digests: Collection[str], runs: Collection[int]) -> None:
    """Wait for every intake of the team that may say the same or nearly the same words: each must see the other.

    Near copies have runs in common, so few runs are locked one by one. Many would fill the server's table of locks:
    such an intake is alone in its team until its transaction ends.
    """
    words = ("words", team_id)
    if len(runs) > limits.NEAR_COPY_LOCKS:
        lock(*words)
    else:
        lock_all([("text", team_id, digest) for digest in digests], sharing=words, numbers=runs)


def near_copies(*, team_id: UUID, said: Sequence[Said]) -> list[set[tuple[UUID, UUID]]]:
    """Return, for each text, (fragment, source group) of the earlier ones that it nearly copies, or that copy it."""
    found: list[set[tuple[UUID, UUID]]] = [set() for _ in said]
    for (_, one), (place, other) in combinations(enumerate(said), 2):
        if near_copy(one.runs, other.runs):
            found[place].add((one.fragment_id, one.group_id))
    for place, runs, fragment, group in _alike(team_id, said):
        if near_copy(said[place].runs, frozenset(runs)):
            found[place].add((fragment, group))
    return found


def _alike(team_id: UUID, said: Sequence[Said]) -> list[tuple[Any, ...]]:
    """Return (place, runs, fragment, source group) of the stored texts that may be near copies."""
    asked = [
        {"place": place, "mine": str(one.group_id), "hashes": list(one.runs), "sample": sample(one.runs)}
        for place, one in enumerate(said)
        if one.runs
    ]
    if not asked:
        return []
    least, most = limits.NEAR_COPY_SAMPLE_PERCENT, limits.NEAR_COPY_CANDIDATES
    binding = [reason.value for reason in BINDING]
    return fetch(ALIKE, asked=json.dumps(asked), team=team_id, binding=binding, least=least, most=most)
