"""All authored records of the meanings that were found."""

from collections.abc import Sequence

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from densemem.core import limits
from relationships.models import RelationshipRecord
from relationships.recall.find import recallable
from relationships.recall.question import Question
from relationships.search import Claim, claims_of


def claims_of_groups(question: Question, *, groups: Sequence[str]) -> dict[str, list[Claim]]:
    """Return, in the order of `groups`, what each profile holds of each meaning, the oldest record first.

    At most `limits.RECALL_ITEMS` records a meaning.
    """
    place = Window(RowNumber(), partition_by=F("semantic_group_key"), order_by=["recorded_at", "id"])
    rows = (
        RelationshipRecord.objects.of_team(question.team_id)
        .filter(recallable(question), semantic_group_key__in=groups)
        .annotate(place=place)
        .filter(place__lte=limits.RECALL_ITEMS)
        .select_related("owner")
        .order_by("recorded_at", "id")
    )
    found = list(rows)
    listed: dict[str, list[Claim]] = {group: [] for group in groups}
    claims = claims_of(team_id=question.team_id, rows=found, known_at=question.known_at)
    for row, claim in zip(found, claims, strict=True):
        listed[row.semantic_group_key].append(claim)
    return {group: of_group for group, of_group in listed.items() if of_group}
