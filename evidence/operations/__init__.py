"""Writes of evidence: staging what was said, advancing a source, holding a text ("Memory Write Pipeline", stage 3).

Each is called inside the transaction of the operation that conducts it.
"""

from evidence.operations.echoes import Passage, forget_served, note_served
from evidence.operations.holding import hold_by_person, quarantine, release
from evidence.operations.joining import Bound
from evidence.operations.redaction import keep_receipt, open_redaction, repeats, take_out, trace, traces
from evidence.operations.sources import (
    FragmentUnknown,
    SourceStep,
    advance_source,
    lock_rows,
    lock_source,
    retire_fragment,
    retire_fragments,
)
from evidence.operations.staging import Copied, Heard, copy_words, hear, open_ingest, stage

__all__ = [
    "Bound",
    "Copied",
    "FragmentUnknown",
    "Heard",
    "Passage",
    "SourceStep",
    "advance_source",
    "copy_words",
    "forget_served",
    "hear",
    "hold_by_person",
    "keep_receipt",
    "lock_rows",
    "lock_source",
    "note_served",
    "open_ingest",
    "open_redaction",
    "quarantine",
    "release",
    "repeats",
    "retire_fragment",
    "retire_fragments",
    "stage",
    "take_out",
    "trace",
    "traces",
]
