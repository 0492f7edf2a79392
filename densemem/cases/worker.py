"""A worker with one hand: a script is read in its order, whatever the product does at once."""

from densemem.providers.base import Provider
from placement.operations import claim_next
from placement.pipeline import place


def work(provider: Provider) -> int:
    """Place what is ready, one item after the other; return how many items that were."""
    placed = 0
    while claim := claim_next():
        place(claim, provider)
        placed += 1
    return placed
