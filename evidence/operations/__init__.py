"""Writes of evidence: staging what was said, advancing a source, holding a text ("Memory Write Pipeline", stage 3).

Each is called inside the transaction of the operation that conducts it.
"""

from evidence.operations.holding import hold_by_person, quarantine, release
from evidence.operations.redaction import keep_receipt, open_redaction, take_out, trace, traces
from evidence.operations.sources import FragmentUnknown, SourceStep, advance_source, lock_source, retire_fragments
from evidence.operations.staging import Copied, Staged, copy_words, open_ingest, stage

__all__ = [
    "Copied",
    "FragmentUnknown",
    "SourceStep",
    "Staged",
    "advance_source",
    "copy_words",
    "hold_by_person",
    "keep_receipt",
    "lock_source",
    "open_ingest",
    "open_redaction",
    "quarantine",
    "release",
    "retire_fragments",
    "stage",
    "take_out",
    "trace",
    "traces",
]
