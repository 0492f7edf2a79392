"""What an owner has verified once more ("Verification Events", explicit later re-verification)."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from densemem.auth import Principal
from evidence.queries import is_current, is_guarded, is_quarantined
from placement.decide.desk import Decided, DecisionRefused, open_desk
from placement.decision import read_reason
from placement.models import Item
from placement.operations import requeue, wake
from placement.queries import newest_extraction
from placement.vocabulary import ItemState
from relationships.queries import ObservationFacts, observation_facts, origin_of_observation, registry
from relationships.vocabulary import BY_CORRECTION
from review.policy import check_decider
from review.vocabulary import DecisionAction


def verify_again(
    *,
    principal: Principal,
    observation_id: UUID,
    body: object,
    idempotency_key: str,
    now: datetime,
    dry_run: bool = False,
) -> Decided:
    """Send one observation of the caller back for one further judgment; policy decides with it.

    :raises ScopeMissing: no write scope
    :raises NotThere: no such observation in the team
    :raises Refused: not its owner, read anew or corrected since, its text does not count or is in work, or a broken
        contract
    """
    asked = read_reason(body, DecisionAction.REVERIFY)
    desk = open_desk(
        principal=principal,
        asked=asked,
        about=observation_id,
        body=body,
        key=idempotency_key,
        now=now,
        dry_run=dry_run,
    )
    with desk.sitting():
        if earlier := desk.earlier():
            return earlier
        team, actor = principal.team_id, principal.profile_id
        owner, item_id = origin_of_observation(team_id=team, observation_id=observation_id)
        check_decider(action=asked.action, kind=None, is_owner=owner == actor, is_manager=principal.is_manager)
        item = desk.item(item_id)
        seen = observation_facts(team_id=team, observation_id=observation_id)
        _check_item(item)
        _check_observation(seen, item)
        known = registry(team_id=team).get(seen.predicate_key)
        if seen.predicate_key and known is None:
            raise DecisionRefused("Its predicate takes nothing new any more.", code="predicate_retired")
        now = desk.take_moment()
        made = desk.record(
            staged=None,
            item_id=item.id,
            item_version=item.version,
            fragment_id=item.fragment_id,
            observation_id=observation_id,
            relationship_id=seen.relationship_id,
            # What it was resolved to binds: a person may have chosen it.
            predicate_key=known.key if known else "",
            predicate_version=known.version if known else None,
        )
        guarded = is_guarded(team_id=team, fragment_id=item.fragment_id)
        requeue(item, guarded=guarded, reason=f"decided_{asked.action}", actor_id=actor, now=now)
        transaction.on_commit(wake, robust=True)
        return desk.answer(made, item=item)


def _check_item(item: Item) -> None:
    """Refuse an item that is at work, or whose text may not be placed.

    :raises DecisionRefused: the code says why
    """
    if item.state in (ItemState.QUEUED, ItemState.GUARDED):
        raise DecisionRefused("The text is being placed. Wait for its end, then look again.", code="item_in_work")
    if is_quarantined(team_id=item.team_id, fragment_id=item.fragment_id):
        raise DecisionRefused("The text is held. Only its release can be decided.", code="evidence_held")
    if not is_current(team_id=item.team_id, fragment_id=item.fragment_id):
        raise DecisionRefused("The text counts no more: replaced or withdrawn.", code="evidence_not_current")
    if item.state not in (ItemState.COMPLETED, ItemState.AWAITING_REVIEW):
        raise DecisionRefused(f"The text is {item.state}: try to place it first.", code="item_not_placed")


def _check_observation(seen: ObservationFacts, item: Item) -> None:
    """Refuse an observation that says no more what its text was read to say.

    :raises DecisionRefused: the code says why
    """
    if seen.extracted != newest_extraction(team_id=item.team_id, item_id=item.id):
        raise DecisionRefused("The text was read anew since: look at what it says now.", code="read_anew")
    if seen.reason == BY_CORRECTION:
        raise DecisionRefused("Its owner corrected what was read here: that is not in question.", code="corrected")
