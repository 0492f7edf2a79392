"""The laws that hold after whatever happened, each one query that finds no row ("Bars", B5).

They are told apart by their numbers on that page. Its eleventh, the chain of hashes, has no table yet.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import connection

from densemem.audit.report import Difference
from densemem.core import limits


@dataclass(frozen=True, slots=True)
class Invariant:
    """
    One law.

    :param number: its number on the page
    :param name: stable, in words joined by `_`
    :param table: `app.Model` of the rows that it is about
    :param sql: selects (team_id, id, what is wrong) of each row that breaks it, and no words of evidence
    """

    number: int
    name: str
    table: str
    sql: str


NARROWED: Final = "SELECT id, detail FROM ({}) AS found(team_id, id, detail) WHERE {} ORDER BY id"

# The supports whose newest decision lets them count.
COUNTING: Final = """
  SELECT support.* FROM relationships_evidencesupport AS support
  CROSS JOIN LATERAL (
    SELECT decision.action FROM relationships_supportdecision AS decision
    WHERE decision.team_id = support.team_id AND decision.support_id = support.id ORDER BY decision.seq DESC LIMIT 1
  ) AS newest
  WHERE newest.action IN ('grant', 'reinstate')
"""

NO_CANDIDATE_IS_ACTIVE: Final = """
SELECT team_id, id, 'is active and ' || tier FROM relationships_relationshiprecord
WHERE status = 'active' AND tier NOT IN ('validated_claim', 'fact')
"""

IDENTITIES_ARE_UNIQUE: Final = """
SELECT team_id, id, 'another record has the same identity' FROM (
  SELECT team_id, id, count(*) OVER (PARTITION BY team_id, owner_id, subject_entity_id, predicate_key,
    object_entity_id, object_value_id, polarity, valid_from, valid_to, scope_key) AS times
  FROM relationships_relationshiprecord
) AS record WHERE times > 1
"""

SUPPORTS_CITE_THEIR_TEXT: Final = """
SELECT support.team_id, support.id,
       format('span %%s-%%s is none of its observation, or leaves a text of %%s',
              support.start, support."end", char_length(content.text))
FROM relationships_evidencesupport AS support
JOIN evidence_fragment AS fragment ON fragment.id = support.fragment_id
JOIN evidence_content AS content ON content.id = fragment.content_id
WHERE support."end" > char_length(content.text) OR support.start >= support."end" OR NOT EXISTS (
  SELECT FROM relationships_observationspan AS span
  WHERE span.observation_id = support.observation_id AND span.fragment_id = support.fragment_id
    AND span.start = support.start AND span."end" = support."end"
)
"""

# A text may come from every group that it, or its group, is joined to. Those that can come from one alone are voices;
# the others add one voice or two, unless one of these groups may be behind them.
COUNTS_MATCH_SUPPORT: Final = f"""
WITH counting AS ({COUNTING}),
said AS (SELECT DISTINCT relationship_id, fragment_id, group_id FROM counting),
behind AS (
  SELECT relationship_id, fragment_id, group_id FROM said
  UNION SELECT said.relationship_id, said.fragment_id, joined.other_id FROM said
  JOIN evidence_groupjoin AS joined ON joined.one_id = said.group_id
   AND joined.reason IN ('hint', 'same_text', 'near_copy')
  UNION SELECT said.relationship_id, said.fragment_id, joined.other_id FROM said
  JOIN evidence_groupjoin AS joined ON joined.fragment_id = said.fragment_id
),
text AS (SELECT relationship_id, array_agg(group_id) AS groups FROM behind GROUP BY relationship_id, fragment_id),
sure AS (
  SELECT relationship_id, array_agg(DISTINCT groups[1]) AS groups
  FROM text WHERE cardinality(groups) = 1 GROUP BY relationship_id
),
open AS (
  SELECT text.* FROM text LEFT JOIN sure USING (relationship_id) WHERE NOT coalesce(text.groups && sure.groups, false)
),
common AS (
  SELECT DISTINCT relationship_id FROM (
    SELECT relationship_id, name FROM open CROSS JOIN unnest(groups) AS name GROUP BY relationship_id, name
    HAVING count(*) = (SELECT count(*) FROM open AS all_of WHERE all_of.relationship_id = open.relationship_id)
  ) AS one
),
counted AS (
  SELECT counting.relationship_id, count(*) AS supports,
         coalesce((SELECT cardinality(groups) FROM sure WHERE sure.relationship_id = counting.relationship_id), 0)
         + CASE WHEN EXISTS (SELECT FROM common WHERE common.relationship_id = counting.relationship_id) THEN 1
                WHEN EXISTS (SELECT FROM open WHERE open.relationship_id = counting.relationship_id) THEN 2
                ELSE 0 END AS voices
  FROM counting GROUP BY counting.relationship_id
)
SELECT record.team_id, record.id,
       format('support_count is %%s, %%s count; source_group_count is %%s, %%s are independent', record.support_count,
              coalesce(supports, 0), record.source_group_count, coalesce(voices, 0))
FROM relationships_relationshiprecord AS record LEFT JOIN counted ON counted.relationship_id = record.id
WHERE (record.support_count, record.source_group_count) <> (coalesce(supports, 0), coalesce(voices, 0))
"""

# That the number of groups is true is a law of its own, so it may be used here.
ACTIVE_TIERS_ARE_EARNED: Final = f"""
WITH counting AS ({COUNTING}),
earned AS (
  SELECT record.*, CASE
    WHEN EXISTS (SELECT FROM counting WHERE relationship_id = record.id AND authoritative) THEN 'fact'
    WHEN source_group_count >= %(sources_for_fact)s THEN 'fact'
    WHEN source_group_count > 0 THEN 'validated_claim'
    ELSE 'candidate' END AS earned
  FROM relationships_relationshiprecord AS record WHERE status = 'active'
)
SELECT team_id, id, format('is an active %%s, its support gives %%s', tier, earned) FROM earned WHERE tier <> earned
"""

COUNTING_SUPPORT_IS_CURRENT: Final = f"""
SELECT counting.team_id, counting.id, 'counts, and its text is outdated, withdrawn, held or redacted'
FROM ({COUNTING}) AS counting
JOIN evidence_fragment AS fragment ON fragment.id = counting.fragment_id
JOIN evidence_content AS content ON content.id = fragment.content_id
LEFT JOIN evidence_source AS source ON source.id = fragment.source_id
WHERE source.current_revision_id <> fragment.revision_id OR content.redacted_at IS NOT NULL
  OR (source.id IS NOT NULL AND source.current_revision_id IS NULL)
  OR EXISTS (SELECT FROM evidence_fragmentretirement AS gone WHERE gone.fragment_id = fragment.id)
  OR EXISTS (SELECT FROM evidence_quarantine AS held WHERE held.fragment_id = fragment.id AND held.status = 'active')
"""

RECORDS_REPLAY_FROM_TRANSITIONS: Final = """
WITH step AS (
  SELECT *, lag(version, 1, 0) OVER past AS version_was, lag(tier) OVER past AS tier_was,
         lag(status) OVER past AS status_was, lead(id) OVER past IS NULL AS newest
  FROM relationships_transition WINDOW past AS (PARTITION BY relationship_id ORDER BY seq)
)
SELECT record.team_id, record.id, CASE
    WHEN step.id IS NULL THEN 'has no history'
    WHEN step.version <> step.version_was + 1 THEN format('transition %%s follows %%s', step.version, step.version_was)
    WHEN (step.tier_before, step.status_before) IS DISTINCT FROM (step.tier_was, step.status_was)
      THEN format('transition %%s does not begin where the one before ended', step.version)
    ELSE format('version is %%s, its newest transition is %%s and says something else', record.version, step.version)
  END
FROM relationships_relationshiprecord AS record LEFT JOIN step ON step.relationship_id = record.id
WHERE step.id IS NULL OR step.version <> step.version_was + 1
  OR (step.tier_before, step.status_before) IS DISTINCT FROM (step.tier_was, step.status_was)
  OR (step.newest AND (record.tier, record.status, record.held_by_person, record.support_count,
                       record.source_group_count, record.version)
     <> (step.tier, step.status, step.held_by_person, step.support_count, step.source_group_count, step.version))
"""

# (row, the column that names whose it follows): both are of one team and one owner.
UNLESS_ADOPTED: Final = " AND NOT EXISTS (SELECT FROM placement_adoption AS adopted WHERE adopted.item_id = child.id)"
OWNED: Final = (
    ("evidence_fragment", "ingest_id", "evidence_ingest", ""),
    ("evidence_fragment", "source_id", "evidence_source", ""),
    ("placement_item", "fragment_id", "evidence_fragment", UNLESS_ADOPTED),
    ("relationships_observation", "item_id", "placement_item", ""),
    ("relationships_evidencesupport", "observation_id", "relationships_observation", ""),
    ("relationships_evidencesupport", "relationship_id", "relationships_relationshiprecord", ""),
    ("review_task", "item_id", "placement_item", ""),
)
# The same where the owner stands in another column; an actor that is absent is the server's policy.
SAID_BY: Final = (
    ("relationships_transition", "actor_id", "relationship_id"),
    ("relationships_crossreference", "author_id", "source_relationship_id"),
    ("relationships_conflictstatement", "owner_id", "relationship_id"),
)
NOBODY_WRITES_FOR_ANOTHER: Final = " UNION ALL ".join(
    [
        f"""
SELECT child.team_id, child.id, '{child}: {key} is of another team or owner' FROM {child} AS child
JOIN {parent} AS parent ON parent.id = child.{key}
WHERE (parent.team_id, parent.owner_id) <> (child.team_id, child.owner_id){unless}"""
        for child, key, parent, unless in OWNED
    ]
    + [
        f"""
SELECT child.team_id, child.id, '{child}: {who} does not own the record' FROM {child} AS child
JOIN relationships_relationshiprecord AS record ON record.id = child.{key}
WHERE (record.team_id, record.owner_id) <> (child.team_id, coalesce(child.{who}, record.owner_id))"""
        for child, who, key in SAID_BY
    ]
    + [
        """
SELECT lineage.team_id, lineage.id, 'relationships_lineage: its records have two owners'
FROM relationships_lineage AS lineage
JOIN relationships_relationshiprecord AS successor ON successor.id = lineage.successor_id
JOIN relationships_relationshiprecord AS predecessor ON predecessor.id = lineage.predecessor_id
WHERE (successor.team_id, successor.owner_id) <> (predecessor.team_id, predecessor.owner_id)"""
    ]
)

# A wait is at most the longest back-off, a lease at most a whole one; nobody is late by being waited for.
QUEUED_WORK_IS_DUE: Final = """
SELECT team_id, id, CASE
    WHEN state NOT IN ('queued', 'guarded') THEN 'has ended, and is under a lease or has no time of its end'
    WHEN attempts > %(attempts)s THEN 'was claimed more often than it may'
    ELSE 'falls due too late, or is under a lease too long' END
FROM placement_item
WHERE CASE WHEN state IN ('queued', 'guarded')
  THEN completed_at IS NOT NULL OR attempts > %(attempts)s
    OR (lease_until IS NULL) <> (attempt_token IS NULL)
    OR available_at > clock_timestamp() + make_interval(secs => %(wait)s)
    OR lease_until > clock_timestamp() + make_interval(secs => %(lease)s)
  ELSE lease_until IS NOT NULL OR attempt_token IS NOT NULL OR completed_at IS NULL END
"""

SEARCH_DOCUMENTS_FOLLOW_RECORDS: Final = """
SELECT record.team_id, record.id, CASE
    WHEN document.id IS NULL THEN 'is active and has no search document'
    WHEN document.source_version > record.version THEN 'its search document is of a later version'
    ELSE 'is hidden and found, or active and not found' END
FROM (
  SELECT *, status = 'active' AND tier IN ('validated_claim', 'fact') AS recallable
  FROM relationships_relationshiprecord
) AS record
LEFT JOIN relationships_searchdocument AS document ON document.relationship_id = record.id
WHERE (document.id IS NULL AND record.recallable)
  OR document.eligible <> record.recallable OR document.source_version > record.version
"""

SOURCES_HAVE_ONE_CURRENT_REVISION: Final = """
WITH revision AS (
  SELECT *, lag(id) OVER past AS was, lead(id) OVER past IS NULL AS newest
  FROM evidence_sourcerevision WINDOW past AS (PARTITION BY source_id ORDER BY seq)
)
SELECT source.team_id, source.id, 'current_revision is not the one end of its chain of revisions'
FROM evidence_source AS source LEFT JOIN revision ON revision.source_id = source.id
WHERE revision.previous_id IS DISTINCT FROM revision.was
  OR (coalesce(revision.newest, true) AND source.current_revision_id IS DISTINCT FROM revision.id)
"""

RECORDS: Final = "relationships.RelationshipRecord"
SUPPORTS: Final = "relationships.EvidenceSupport"
INVARIANTS: Final = (
    Invariant(1, "no_candidate_is_active", RECORDS, NO_CANDIDATE_IS_ACTIVE),
    Invariant(2, "identities_are_unique", RECORDS, IDENTITIES_ARE_UNIQUE),
    Invariant(3, "supports_cite_their_text", SUPPORTS, SUPPORTS_CITE_THEIR_TEXT),
    Invariant(4, "counts_match_support", RECORDS, COUNTS_MATCH_SUPPORT),
    Invariant(5, "active_tiers_are_earned", RECORDS, ACTIVE_TIERS_ARE_EARNED),
    Invariant(6, "counting_support_is_current", SUPPORTS, COUNTING_SUPPORT_IS_CURRENT),
    Invariant(7, "records_replay_from_transitions", RECORDS, RECORDS_REPLAY_FROM_TRANSITIONS),
    Invariant(8, "nobody_writes_for_another", "evidence.Fragment", NOBODY_WRITES_FOR_ANOTHER),
    Invariant(9, "queued_work_is_due", "placement.Item", QUEUED_WORK_IS_DUE),
    Invariant(10, "search_documents_follow_records", RECORDS, SEARCH_DOCUMENTS_FOLLOW_RECORDS),
    Invariant(12, "sources_have_one_current_revision", "evidence.Source", SOURCES_HAVE_ONE_CURRENT_REVISION),
)


def violations(invariant: Invariant, *, team_id: UUID | None = None) -> Iterator[Difference]:
    """Yield every row, of one team or of all, that breaks the law now."""
    given = {
        "team": team_id,
        "sources_for_fact": limits.SOURCES_FOR_FACT,
        "attempts": limits.ITEM_ATTEMPTS,
        "wait": limits.BACKOFF_MOST_SECONDS,
        "lease": limits.LEASE_SECONDS,
    }
    mine = "team_id = %(team)s" if team_id else "true"
    with connection.cursor() as cursor:
        cursor.execute(NARROWED.format(invariant.sql, mine), given)
        yield from (Difference(row, detail) for row, detail in cursor.fetchall())
