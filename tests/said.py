"""Short ways to say things in tests: who speaks, what a scripted model answers, and what came of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.utils import timezone

from densemem.auth import Principal, principal_of
from densemem.core.names import fold
from densemem.models import Membership, Profile, Team
from densemem.providers.base import Call, Provider, Stage
from densemem.providers.scripted import Scripted
from placement import contract
from placement.remember import remember
from placement.status import IngestView, get_placement
from placement.tasks import drain


@dataclass(frozen=True)
class Fact:
    """One statement that the scripted reviewer finds and the scripted verifier judges."""

    subject: str
    predicate: str
    object: str
    key: str | None = None
    verdict: str = "entailed"
    subject_kind: str = "person"
    object_kind: str = "project"
    polarity: str = "+"
    modality: str = "statement"
    valid_from: str | None = None
    valid_to: str | None = None
    ended: bool = False
    scope: str | None = None
    proposal_id: str | None = None
    value: Mapping[str, Any] | None = None


def someone(
    team: Team, name: str, *, role: str = "member", grants: Sequence[str] = (), scopes: str = "read write"
) -> Principal:
    """Return the Principal of a new person of the team."""
    user = User.objects.create(username=f"{name}-{uuid4().hex[:8]}")
    profile = Profile.objects.create(team=team, kind="person", name=name, user=user)
    Membership.objects.create(
        team=team, profile=profile, role=role, scopes=scopes.split(), authority_grants=list(grants)
    )
    found = principal_of(profile)
    assert found is not None
    return found


def model(*facts: Fact, signals: Mapping[str, Any] | None = None, trusting: bool = False) -> Scripted:
    """Return a provider that finds these facts; it creates where nobody bears the name, reuses one, leaves several open.

    :param trusting: it takes whoever is offered for one that bears the name
    """

    def answer(call: Call) -> str:
        request = json.loads(call.turns[0].text)
        schema = contract.EXTRACTION_REQUEST if call.stage is Stage.EXTRACT else contract.VERIFIER_REQUEST
        contract.check_request(request, schema=schema)
        made = extraction(request, facts) if call.stage is Stage.EXTRACT else verification(request, facts, trusting)
        made["security_signals"] = (signals or {}).get(call.stage.value, [])
        for signal in made["security_signals"]:
            signal["evidence_id"] = request["evidence"][0]["evidence_id"]
        return json.dumps(made)

    return Scripted(answer)


def extraction(request: Mapping[str, Any], facts: Sequence[Fact]) -> dict[str, Any]:
    """Return the bundle for the facts, each quoting the whole text."""
    evidence = request["evidence"][0]
    cited = {"evidence_id": evidence["evidence_id"]}
    mentions: dict[str, dict[str, Any]] = {}
    values, observations = [], []
    for number, fact in enumerate(facts):
        ends = [(fact.subject, fact.subject_kind)] + ([] if fact.value else [(fact.object, fact.object_kind)])
        for name, kind in ends:
            mentions[name] = {**cited, "ref": name, "quote": name, "occurrence": 1, "kind": kind}
        if fact.value:
            values.append(
                {**cited, "ref": f"v{number}", "quote": fact.object, "occurrence": 1, "unit": None, **fact.value}
            )
        observations.append(
            {
                **cited,
                "ref": f"o{number}",
                "subject_ref": fact.subject,
                "predicate": fact.predicate,
                "object_ref": None if fact.value else fact.object,
                "value_ref": f"v{number}" if fact.value else None,
                "polarity": fact.polarity,
                "modality": fact.modality,
                "ended": fact.ended,
                "valid_from": fact.valid_from,
                "valid_to": fact.valid_to,
                "scope": fact.scope,
                "proposal_id": fact.proposal_id,
                "quotes": [{"quote": evidence["content"], "occurrence": 1}],
            }
        )
    return {"security_signals": [], "mentions": list(mentions.values()), "values": values, "observations": observations}


def verification(request: Mapping[str, Any], facts: Sequence[Fact], trusting: bool = False) -> dict[str, Any]:
    """Return the whole answer of the verifier."""
    return {
        "request_id": request["request_id"],
        "security_signals": [],
        "entity_results": [_choice(m, trusting) for m in request["entity_mentions"]],
        "relationship_results": [_judgment(o, facts[int(o["ref"][1:])]) for o in request["relationship_observations"]],
    }


def _choice(mention: Mapping[str, Any], trusting: bool) -> dict[str, Any]:
    alike = [c for c in mention["candidates"] if c["kind"] == mention["kind"]]
    offered = [c["entity_id"] for c in alike if trusting or bears(c, mention)]
    action = {0: "create", 1: "reuse"}.get(len(offered), "ambiguous")
    return {
        "ref": mention["ref"],
        "action": action,
        "candidate_entity_id": offered[0] if action == "reuse" else None,
        "confidence": 0.9,
        "rationale": "Scripted.",
    }


def bears(candidate: Mapping[str, Any], mention: Mapping[str, Any]) -> bool:
    """Tell if a candidate has the name of the mention; others are hints, or are only like it."""
    return fold(candidate["canonical_name"]) == fold(mention["surface"]) or (
        candidate["identity_context"].get("also_called") == mention["surface"]
    )


def _judgment(observation: Mapping[str, Any], fact: Fact) -> dict[str, Any]:
    key = fact.key if fact.key in observation["predicate_candidates"] else None
    return {
        "ref": observation["ref"],
        "predicate_status": "resolved" if key else "needs_review",
        "predicate_key": key,
        "evidence_verdict": fact.verdict,
        "confidence": 0.9,
        "rationale": "Scripted.",
    }


def send(
    who: Principal, *texts: str, key: str | None = None, proposal: Mapping[str, Any] | None = None, **fields: Any
) -> UUID:
    """Remember texts and return the ingest's id; nothing is placed yet."""
    body: dict[str, Any] = {"evidence": [{"content": t, "source_type": "document", **fields} for t in texts]}
    if proposal:
        body["proposal"] = proposal
    done = remember(principal=who, body=body, idempotency_key=key or uuid4().hex, now=timezone.now())
    return done.ingest_id


def say(who: Principal, text: str, *facts: Fact, using: Provider | None = None, **fields: Any) -> IngestView:
    """Remember a text, place it with a scripted model that finds `facts`, and return how it went."""
    ingest_id = send(who, text, **fields)
    drain(using=using or model(*facts), linger=False)
    return get_placement(team_id=who.team_id, ingest_id=ingest_id)
