"""What a profile's decision about who is who moves: its own records, in one transaction, and nobody else's.

The caller holds, in this order: the items that may be asked about, the source groups, and who is who for the profile.
"""

from relationships.reattribute.around import (
    Around,
    ChangedMeanwhile,
    Cited,
    Ends,
    count_of_others,
    decide_merge,
    decide_split,
    items_of_observations,
    items_resting,
    lock_around,
    observations_citing,
    records_touching,
    versions_of,
)
from relationships.reattribute.back import Written, changed_by, give_back, wait_to_give_back, written_by
from relationships.reattribute.carry import carry_out, rename

__all__ = [
    "Around",
    "ChangedMeanwhile",
    "Cited",
    "Ends",
    "Written",
    "carry_out",
    "changed_by",
    "count_of_others",
    "decide_merge",
    "decide_split",
    "give_back",
    "items_of_observations",
    "items_resting",
    "lock_around",
    "observations_citing",
    "records_touching",
    "rename",
    "versions_of",
    "wait_to_give_back",
    "written_by",
]
