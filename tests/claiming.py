"""Short ways to claim in tests, and to let time pass for the queue."""

from datetime import timedelta

from django.utils import timezone

from entities.models import Entity
from placement.models import Item
from placement.operations import Claim, claim_next, database_now
from relationships.models import Observation, RelationshipRecord
from tests.said import Fact

WORKS = Fact("Mara Lind", "works on", "Harbor", "works_on")
TEXT = "Mara Lind works on Harbor."
LONG_AGO = timedelta(hours=1)
PROPOSAL = {"entities": [{"ref": "m", "name": "Mara Lind", "aliases": ["Harbor"]}]}


def claimed() -> Claim:
    """Claim the one item that is ready."""
    claim = claim_next()
    assert claim is not None
    return claim


def item_of(claim: Claim) -> Item:
    """Return the row of a claim as it is now."""
    return Item.objects.get(pk=claim.item_id)


def let_lease_end(claim: Claim) -> None:
    """Let the lease of a claim be over."""
    Item.objects.filter(pk=claim.item_id).update(lease_until=database_now() - LONG_AGO)


def let_wait_end() -> None:
    """Let every wait be over."""
    Item.objects.update(available_at=timezone.now() - LONG_AGO)


def knowledge() -> int:
    """Count what a commit would write."""
    return Entity.objects.count() + Observation.objects.count() + RelationshipRecord.objects.count()


def item_state() -> str:
    """Return the state of the one item."""
    return Item.objects.get().state
