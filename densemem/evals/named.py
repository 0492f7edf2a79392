"""Names through the real path: each is said in a text, and what its mention was resolved to is read."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import UUID, uuid4

from django.apps import apps
from django.utils import timezone

from densemem.auth import Principal
from densemem.core.names import fold
from densemem.evals.name_lists import Asked, NameSet
from densemem.evals.product import newcomer
from densemem.evals.scratch import scratch_memory
from densemem.providers.base import Call, Stage
from densemem.providers.scripted import Scripted
from placement.remember import remember
from placement.tasks import drain

WHERE: Final = "Harbor"
WORDING: Final = "works on"


def placed(
    sets: Sequence[NameSet], track: Callable[[Iterable[Asked]], Iterable[Asked]]
) -> Iterator[tuple[NameSet, list[UUID | None]]]:
    """Yield each set with the bearer that every name it asks for was resolved to; None where nobody was chosen."""
    with scratch_memory():
        for names in sets:
            who = newcomer()
            bearers: dict[UUID, UUID] = {}
            for bearer in dict.fromkeys(bearer for bearer, _ in names.known):
                first, *more = [name for one, name in names.known if one == bearer]
                bearers[_known(who, first, aliases=more)] = bearer
            yield names, [_chosen(who, asked, bearers) for asked in track(names.asked)]


def _known(who: Principal, name: str, *, aliases: Sequence[str]) -> UUID:
    """Make somebody known.

    :raises RuntimeError: the name was not taken for a new one: what follows would measure something else
    """
    entity = _said(who, name, aliases=aliases, answer=_nobody)
    if not entity.int:
        raise RuntimeError("A name of the list could not be made known.")
    return entity


def _chosen(who: Principal, asked: Asked, bearers: Mapping[UUID, UUID]) -> UUID | None:
    entity = _said(who, asked.name, aliases=(), answer=_eager)
    return bearers.get(entity)


def _said(
    who: Principal, name: str, *, aliases: Sequence[str], answer: Callable[[Any], tuple[str, str | None]]
) -> UUID:
    """Remember a text that says a name, place it, and return the Entity that was chosen; a nil id for none."""
    called = f" (also {', '.join(aliases)})" if aliases else ""
    text = f"{name} {WORDING} {WHERE}{called}. Note {uuid4().hex}."
    body: dict[str, Any] = {"evidence": [{"content": text, "source_type": "document"}]}
    if aliases:
        body["proposal"] = {"entities": [{"ref": "n", "name": name, "aliases": list(aliases)}]}
    done = remember(principal=who, body=body, idempotency_key=uuid4().hex, now=timezone.now())
    drain(using=Scripted(lambda call: json.dumps(_reply(call, name, answer))), linger=False)
    # An evaluation reads the tables of several apps and writes none, so it asks the registry for them.
    events = apps.get_model("entities", "ResolutionEvent").objects.filter(ingest_id=done.ingest_id, mention_ref="n")
    return events.values_list("entity_id", flat=True).first() or UUID(int=0)


def _reply(call: Call, name: str, answer: Callable[[Any], tuple[str, str | None]]) -> dict[str, Any]:
    request = json.loads(call.turns[0].text)
    if call.stage is Stage.EXTRACT:
        return _extraction(request["evidence"][0], name)
    return {
        "request_id": request["request_id"],
        "security_signals": [],
        "entity_results": [_result(mention, answer) for mention in request["entity_mentions"]],
        "relationship_results": [
            {
                "ref": row["ref"],
                "predicate_status": "resolved",
                "predicate_key": row["predicate_candidates"][0],
                "evidence_verdict": "insufficient",
                "confidence": 0.9,
                "rationale": "Names alone are measured.",
            }
            for row in request["relationship_observations"]
        ],
    }


def _extraction(evidence: Mapping[str, Any], name: str) -> dict[str, Any]:
    cited = {"evidence_id": evidence["evidence_id"]}
    quotes = [{"quote": f"{name} {WORDING} {WHERE}", "occurrence": 1}]
    nothing = dict.fromkeys(("value_ref", "valid_from", "valid_to", "scope", "proposal_id"))
    plain = {"polarity": "+", "modality": "statement", "ended": False, **nothing}
    return {
        "security_signals": [],
        "mentions": [
            {**cited, "ref": "n", "quote": name, "occurrence": 1, "kind": "person"},
            {**cited, "ref": "w", "quote": WHERE, "occurrence": 1, "kind": "project"},
        ],
        "values": [],
        "observations": [
            {
                **cited,
                "ref": "o",
                "subject_ref": "n",
                "predicate": WORDING,
                "object_ref": "w",
                "quotes": quotes,
                **plain,
            }
        ],
    }


def _result(mention: Mapping[str, Any], answer: Callable[[Any], tuple[str, str | None]]) -> dict[str, Any]:
    action, chosen = (answer if mention["ref"] == "n" else _eager)(mention)
    told = {"ref": mention["ref"], "action": action, "candidate_entity_id": chosen}
    return {**told, "confidence": 0.9, "rationale": "Eager."}


def _nobody(mention: Mapping[str, Any]) -> tuple[str, str | None]:
    """Take everybody for new, but for whom the name is borne by already."""
    return "create", None


def _eager(mention: Mapping[str, Any]) -> tuple[str, str | None]:
    """Take the only bearer of the name, else the first who is like it."""
    offered = mention["candidates"]
    bear = [c for c in offered if fold(c["canonical_name"]) == fold(mention["surface"]) or c["identity_context"]]
    if len(bear) > 1:
        return "ambiguous", None
    first = (bear or offered)[:1]
    return ("reuse", first[0]["entity_id"]) if first else ("create", None)
