"""Every limit of the product, in one place ("Decisions", text, requests, spans).

Counts are items, `_chars` are Unicode code points, `_bytes` are bytes, `_seconds` are seconds.
"""

from typing import Final

# One request.
BODY_BYTES: Final = 1024 * 1024
EVIDENCE_ITEMS: Final = 20
EVIDENCE_CHARS: Final = 20_000
ENTITIES: Final = 100
OBSERVATIONS: Final = 200
SPANS: Final = 20
ALIASES: Final = 20
IDENTIFIERS: Final = 20  # of one entity of a proposal, or beside one name
IDENTIFIER_CHARS: Final = 512
REF_CHARS: Final = 128
NAME_CHARS: Final = 256
NAME_KEY_CHARS: Final = 512  # folding may lengthen a name
VALUE_CHARS: Final = 1_024
VALUE_DIGITS: Final = 38  # of a number, exact; holds every 64-bit integer
UNIT_CHARS: Final = 128
SCOPE_CHARS: Final = 256
SOURCE_CHARS: Final = 256
LABELS: Final = 20
LABEL_CHARS: Final = 64
REASON_CHARS: Final = 1_000
SUPERSEDED_FRAGMENTS: Final = 50
DERIVED_FRAGMENTS: Final = 50
METADATA_KEYS: Final = 20
WAIT_SECONDS: Final = 20

# Recall and lists.
QUERY_CHARS: Final = 512
RECALL_ITEMS: Final = 50
RECALL_DEFAULT: Final = 10
RECALL_CANDIDATES: Final = 500  # documents that one search ranks
TERM_CHARS: Final = 64  # of one search term
QUERY_TERMS: Final = 64
CONFLICTS: Final = 20  # shown beside one recall
CONFLICT_POSITIONS: Final = 50  # shown of one
CONFLICT_EVENTS: Final = 100  # shown of one, the newest
PAGE_ITEMS: Final = 100  # of a list; whoever asks for more gets as many
PAGE_DEFAULT: Final = 50
TRACE_CONTEXT_CHARS: Final = 300  # on each side of a cited span
INBOX_ITEMS: Final = 50
ITEM_TASKS: Final = 100  # questions shown with the placement of one ingest
CHECK_AFTER_SECONDS: Final = 3_600

# Scan.
SIGNALS: Final = 64
SCAN_CHARS: Final = 1024 * 1024
SCAN_MATCHES: Final = 1_024  # rules that hold, in all views together; more is quarantined
SCAN_DECODED_CHARS: Final = 131_072  # of blocks and runs that are decoded

# Models.
ANSWERS: Final = 5  # complete answers in one conversation
ANSWER_BYTES: Final = 1024 * 1024
ANSWER_TOKENS: Final = 32_000  # what a model may write at once
FAULTS: Final = 100  # faults reported back at once
TRANSPORT_TRIES: Final = 5
TRANSPORT_SECONDS: Final = 300
CALL_SECONDS: Final = 60
CANDIDATES: Final = 20  # entities offered for one mention
IDENTIFIER_HUB: Final = 100  # entities that bear one identifier; borne by more it tells nobody apart
IDENTITY_STEPS: Final = 100  # decisions shown in one explanation, the newest
IDENTIFIER_SPANS: Final = 20  # shown, or looked at, of one identifier and Entity, the newest
IDENTITY_OPINIONS: Final = 50  # shown beside one recall
REDIRECTS: Final = 16  # hops from an entity that was merged to the one it is taken for
PROPOSALS: Final = 5  # of them, those whose name is only like that of the mention
NAME_FORMS: Final = 48  # other ways to write one name that are kept, or asked for
FORM_WORDS: Final = 6  # of a name whose parts are looked for
ENTITY_NAMES: Final = 200  # of an Entity, shown at once; the newest
PREDICATE_OPTIONS: Final = 60  # predicates offered for one observation
KNOWN_NAMES: Final = 100  # names offered to the reviewer
MENTIONS: Final = 400
QUOTE_PLACES: Final = 400  # of one quote in one text that can be told apart by their number

# Work.
ITEM_ATTEMPTS: Final = 5
ITEM_UNCOUNTED: Final = 20  # claims of one item that may be given back without counting
LEASE_SECONDS: Final = 120
LEASE_RENEWALS: Final = 120  # of one claim: whoever holds an item for an hour hangs
HEARTBEAT_SECONDS: Final = 30
BACKOFF_FIRST_SECONDS: Final = 2
BACKOFF_MOST_SECONDS: Final = 300
ASKED_WAIT_MOST_SECONDS: Final = 3_600  # of a provider's Retry-After
DRAIN_SECONDS: Final = 90  # longer than the minute between two wake-ups, so that nothing falls due between drains
DRAIN_STOP_SECONDS: Final = 10  # from the order to stop until what is not done is given back
CONCURRENCY: Final = 64  # items that one drain may work on at once
FANOUT_SUPPORTS: Final = 2_000
FANOUT_RECORDS: Final = 1_000
FANOUT_ITEMS: Final = 1_000  # that place one text, for its author and for whoever adopts it
ADOPTIONS: Final = 20  # of one text by one profile, each of other words or with another proposal
IMPACT_CHANGES: Final = 100  # of Relationships, shown with the decision that made them
REDACTION_RUNS: Final = 4_000  # of words of one text, by which copies that are left can be found

# Knowledge.
SOURCES_FOR_FACT: Final = 2
REGISTRIES_KEPT: Final = 64  # in the memory of a process, of as many teams
TEAM_PREDICATES: Final = 200  # that a team registers beside the shared ones
PREDICATE_WORDINGS: Final = 60  # that mean one predicate
WORDING_CHARS: Final = 128
REGISTRY_ITEMS: Final = 200  # texts that one decision about the registry takes up again
NEAR_COPY_WORDS: Final = 5  # in one run of words
NEAR_COPY_PERCENT: Final = 80  # of the runs found in the other text
NEAR_COPY_SAMPLE: Final = 24  # hashes by which the texts that may be near copies are found: 0.2^24 of them are missed
NEAR_COPY_SAMPLE_PERCENT: Final = 40  # of the sample; with four of five runs in common half of it is all but certain
NEAR_COPY_CANDIDATES: Final = 50  # texts that are compared with a new one, those with most in common first
NEAR_COPY_LOCKS: Final = 192  # runs that an intake locks one by one; one with more of them is alone in its team
ECHO_WORDS: Final = 8  # of a passage of evidence, from which on its repetition is an echo
ECHO_HASHES: Final = 64  # kept of one served passage; all of them must stand in a text that repeats it
ECHO_PASSAGES: Final = 500  # noted of one answer
SERVED_DAYS: Final = 30  # for which it is kept what was served
SERVED_SWEEP: Final = 5_000  # rows of it that are deleted at once

# Demo.
DEMO_SECONDS: Final = 150  # one paper of the sample may wait for a worker that holds it: longer than a lease

# Audit.
AUDIT_ROWS: Final = 500  # compared at once
AUDIT_DIFFERENCES: Final = 100  # listed for one check; all are counted

# Doors.
DOOR_THREADS: Final = 24  # requests of one server process that are worked on at once; each has a connection
DOOR_WAITS: Final = 12  # of them, those that stay until a worker is done
