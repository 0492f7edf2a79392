"""F5: a model that misbehaves in every way, at each of its two calls, over a real connection."""

import time
from random import Random
from typing import Any, Final

from densemem.core import limits
from densemem.faults import rows
from densemem.faults.cast import newcomers, send, shortened, statements
from densemem.faults.fault import Broken, Fault, Figures
from densemem.faults.vendor import IN_THE_ANSWER, ON_THE_WIRE, Vendor, serving
from densemem.providers.anthropic import Claude
from densemem.providers.base import Stage
from placement.tasks import drain

ALWAYS, ONCE = "Hemlock", "Nettle"
QUICK: Final = {"TRANSPORT_TRIES": 2, "ITEM_ATTEMPTS": 2, "CALL_SECONDS": 10.0, "BACKOFF_FIRST_SECONDS": 0.02}
IMPATIENT_SECONDS: Final = 0.7  # until a call is cut whose answer never comes
NEVER_ENDING: Final = ("timeout", "trickle")
PATIENCE_SECONDS: Final = 60
LOOK_SECONDS: Final = 0.02
CASES: Final = tuple((name, stage) for name in (*ON_THE_WIRE, *IN_THE_ANSWER) for stage in Stage)


def misbehave(chance: Random) -> Figures:
    """Go through every kind of misbehaviour at each model call, in an order of chance."""
    calls = 0
    with serving(Vendor(ALWAYS, ONCE)) as vendor:
        provider = Claude(api_key="none", model="loopback", base_url=vendor.url)
        for mischief, stage in chance.sample(CASES, len(CASES)):
            vendor.turn_to(mischief, stage)
            _play(vendor, provider, chance)
            calls += vendor.seen[ALWAYS] + 1
    return {"cases": len(CASES), "calls_gone_wrong": calls}


def _play(vendor: Vendor, provider: Claude, chance: Random) -> None:
    """Place three texts: one that always meets the misbehaviour, one that meets it once, and a sound one."""
    (who,) = newcomers()
    (sound,) = statements(chance, 1)
    texts = [f"{ALWAYS} works on Harbor.", f"{ONCE} works on Skiff.", sound]
    always, once, good = (send(who, text) for text in texts)
    seconds = IMPATIENT_SECONDS if vendor.mischief in NEVER_ENDING else QUICK["CALL_SECONDS"]
    with shortened(**{**QUICK, "CALL_SECONDS": seconds}):
        _drain(who.team_id, provider)
        name = f"{vendor.mischief} at {vendor.stage}"
        _check_failed(rows.items(who.team_id).get(ingest_id=always), vendor, name)
    for ingest_id in (once, good):
        state = rows.items(who.team_id).get(ingest_id=ingest_id).state
        if state != "completed":
            raise Broken(f"{name}: a text that should have been placed is {state}")


def _drain(team_id: Any, provider: Claude) -> None:
    ends = time.monotonic() + PATIENCE_SECONDS
    while rows.items(team_id).filter(state="queued").exists():
        if time.monotonic() > ends:
            raise Broken(f"texts still waited after {PATIENCE_SECONDS} s")
        drain(using=provider, linger=False)
        time.sleep(LOOK_SECONDS)


def _check_failed(item: Any, vendor: Vendor, name: str) -> None:
    """Make sure that the item failed where everybody sees it, after as many calls as are allowed, and left nothing."""
    on_the_wire = vendor.mischief in ON_THE_WIRE
    reason = "provider_" if on_the_wire else f"{vendor.stage}_answers_"
    if item.state != "failed" or not item.reason.startswith(reason):
        raise Broken(f"{name}: {item.state} for {item.reason!r}")
    allowed = limits.TRANSPORT_TRIES * limits.ITEM_ATTEMPTS if on_the_wire else limits.ANSWERS
    if vendor.seen[ALWAYS] != allowed:
        raise Broken(f"{name}: {vendor.seen[ALWAYS]} calls where {allowed} are allowed")
    rows.no_knowledge_of(item)


F5 = Fault(
    "F5",
    "the model's answers fail, in every way and at each of its calls",
    "nothing half written, bounded calls, a failure that is seen, and the next text is placed",
    misbehave,
)
