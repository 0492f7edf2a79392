"""A decision about who is who that its author takes back: what it moved returns, what was said since stays."""

from uuid import UUID

from entities.operations import give_mentions_back
from entities.stored import IdentityFacts, identity_facts, mentions_attributed_by, newest_of_mentions
from entities.vocabulary import MemberRole
from placement.decide.identity.asking import settle_unasked
from placement.decide.identity.rules import check_last
from placement.decide.identity.work import Work
from relationships.operations import NotOwned
from relationships.reattribute import (
    give_back,
    items_resting,
    observations_citing,
    rename,
    versions_of,
    wait_to_give_back,
    written_by,
)
from review.operations import cancel_tasks_about, cancel_tasks_of_observations
from review.queries import DecisionFacts, items_waiting_for

TAKEN_BACK = "identity_withdrawn"


def withdraw(work: Work) -> DecisionFacts:
    """Take back a decision of the author's own that nothing later stands on."""
    assert work.asked.identity_id is not None
    facts = _own(work, work.asked.identity_id)
    written = written_by(team_id=work.team, identity_id=facts.id)
    attributed = mentions_attributed_by(team_id=work.team, identity_id=facts.id)
    waiting = {
        item for record in written.record_ids for item in items_waiting_for(team_id=work.team, relationship_id=record)
    }
    resting = items_resting(team_id=work.team, record_ids=written.record_ids)
    work.lock({item for item, _ in attributed} | waiting | resting)
    facts = _own(work, facts.id)
    check_last(work, facts, changed=written.record_ids)
    steps = sorted((str(number), step.version) for number, step in written.steps.items())
    wait_to_give_back(team_id=work.team, written=written)
    now = versions_of(team_id=work.team, record_ids=written.record_ids)
    newest = newest_of_mentions(team_id=work.team, places=attributed)
    work.depend_on(None, steps, now, newest, entities=facts.entities)
    made = work.record()
    cycles = {row.id: row.version for row in work.items.values()}
    back, since = give_mentions_back(
        team_id=work.team, of_identity=facts.id, identity_id=work.number, cycles=cycles, now=work.desk.now
    )
    work.mentions = len(back)
    seen = observations_citing(team_id=work.team, owner_id=work.me, item_ids={item for item, _ in back | since})
    settled = {
        place for o in seen if {(o.item_id, o.subject_ref), (o.item_id, o.object_ref)} & since for place in o.places
    }
    work.supports = give_back(
        team_id=work.team,
        owner_id=work.me,
        of_identity=facts.id,
        identity_id=work.number,
        settled_since=settled,
        now=work.desk.now,
    )
    survivors = [entity for entity, role in facts.members if role is MemberRole.SURVIVOR]
    rename(team_id=work.team, owner_id=work.me, entity_ids=survivors, now=work.desk.now)
    for record in sorted(written.record_ids):
        cancel_tasks_about(team_id=work.team, relationship_id=record, reason=TAKEN_BACK, now=work.desk.now)
    opened = [o.observation_id for o in seen if {(o.item_id, o.subject_ref), (o.item_id, o.object_ref)} & back]
    if opened:
        cancel_tasks_of_observations(team_id=work.team, observation_ids=opened, reason=TAKEN_BACK, now=work.desk.now)
    settle_unasked(work)
    return made


def _own(work: Work, identity_id: UUID) -> IdentityFacts:
    facts = identity_facts(team_id=work.team, identity_id=identity_id)
    if facts.author_id != work.me:
        raise NotOwned("Only the profile that decided who is who takes that back.")
    return facts
