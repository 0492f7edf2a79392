"""What must not have happened. Each phrase holds when it did not."""

import re
from typing import Any, Final

from densemem.audit.tables import rows
from densemem.cases.judge.answers import never_statuses
from densemem.cases.judge.kept import sent, spans_as_given, unchanged
from densemem.cases.judge.knowledge import TRIPLE, is_said, listed, none_active, priors
from densemem.cases.judge.models import mentions, no_folding, nothing_salvaged
from densemem.cases.judge.phrases import phrases
from densemem.cases.judge.seen import Seen, is_value
from densemem.cases.judge.work import FINAL
from densemem.core.names import lookup_key


def no_second_record(seen: Seen, m: re.Match[str]) -> bool:
    """There is one record at most."""
    return len(seen.records()) <= 1


def no_fact(seen: Seen, m: re.Match[str]) -> bool:
    """No record is a fact."""
    return listed(seen, [r for r in seen.records() if r.tier == "fact"])


def never_left(seen: Seen, m: re.Match[str]) -> bool:
    """No record ever left being active."""
    found = rows("relationships.Transition").filter(status_before="active").exclude(status="active")
    return not found.exists() and bool(seen.active())


def no_demotion(seen: Seen, m: re.Match[str]) -> bool:
    """No record of the setup is less than it was."""
    order = ["candidate", "validated_claim", "fact"]
    return all(r.status == "active" and order.index(r.tier) >= order.index(state["tier"]) for r, state in priors(seen))


def as_judged(seen: Seen, m: re.Match[str]) -> bool:
    """Each observation has the polarity that the reviewer gave, whatever words the text holds."""
    given = [o["polarity"] for e in seen.play.case.script for o in e.get("response", {}).get("observations", [])]
    return seen.equal([o.polarity for o in seen.observations()], given)


def apart(seen: Seen, m: re.Match[str]) -> bool:
    """Two things are still two, both in use, and no record of the one speaks of the other."""
    team = next(iter(seen.play.world.teams.values()))
    numbers = {seen.play.world.entity_id(team, key) for key in (m["one"], m["other"])}
    found = rows("entities.Entity").filter(pk__in=numbers, status="active").count()
    return len(numbers) == 2 and seen.equal(found, 2)


def keys_apart(seen: Seen, m: re.Match[str]) -> bool:
    """Two names have keys of their own."""
    return lookup_key(m["one"]) != lookup_key(m["other"])


def spans_on_original(seen: Seen, m: re.Match[str]) -> bool:
    """Every mention lies where its surface is in the text as sent."""
    found = {e.fragment.content.text[e.start : e.end] for e in mentions(seen)}
    given = {p["surface"] for e in seen.play.case.script for p in e.get("response", {}).get("mentions", [])}
    return bool(found) and seen.equal(found, given)


def wrong_spans_refused(seen: Seen, m: re.Match[str]) -> bool:
    """A step whose span is in another unit stored nothing."""
    wrong = [s for s in seen.play.steps if s.answered and not _fits(s)]
    return bool(wrong) and all(s.answered and s.answered.is_error and seen.at(s).wrote_nothing() for s in wrong)


def _fits(step: Any) -> bool:
    body = step.said["body"]
    text = body["evidence"][0]["content"]
    return all(text[x["start"] : x["end"]] == x["surface"] for x in body["proposal"]["mentions"])


def none_shifted(seen: Seen, m: re.Match[str]) -> bool:
    """No stored proposal has another span than the client gave."""
    kept = [s for s in seen.play.steps if s.ingest_id]
    return all(spans_as_given(seen.at(s), m) for s in kept) and wrong_spans_refused(seen, m)


def refused_when_folded(seen: Seen, m: re.Match[str]) -> bool:
    """A quote that fits only when marks are made equal was never taken."""
    return no_folding(seen, m) and any("quote_not_found" in call.told for call in seen.asked("extract"))


def nothing_stored_of(seen: Seen, m: re.Match[str]) -> bool:
    """No refused step wrote anything, and what was stored is what was sent."""
    refused = [s for s in seen.play.steps if s.answered and s.answered.is_error]
    return bool(refused) and all(seen.at(s).wrote_nothing() for s in refused)


def no_denial_active(seen: Seen, m: re.Match[str]) -> bool:
    """No active record has this polarity."""
    return listed(seen, [r for r in seen.active() if r.polarity == m["polarity"]])


def no_invention(seen: Seen, m: re.Match[str]) -> bool:
    """Every copied name, value and wording is a piece of what was sent."""
    text = "\n".join(sent(seen))
    names = list(rows("entities.Name").filter(fragment__ingest_id__in=seen.ingests()).values_list("display", flat=True))
    found = [*names, *seen.wordings("value"), *seen.wordings("surface")]
    strange = [word for word in found if word not in text]
    seen.note(strange)
    return not strange


def not_active(seen: Seen, m: re.Match[str]) -> bool:
    """No active record says this."""
    return listed(seen, [r for r in seen.active() if is_said(seen, r, (m["s"], m["p"], m["o"])) and r.polarity == "+"])


def no_task(seen: Seen, m: re.Match[str]) -> bool:
    """Nobody is asked about anything."""
    return seen.equal([t.kind for t in seen.tasks()], [])


def value_kept(seen: Seen, m: re.Match[str]) -> bool:
    """The records of the setup still have the value with which they were made."""
    given = [prior["value"] for prior in seen.play.case.setup["prior"]]
    found = rows("relationships.RelationshipRecord").select_related("object_value").in_bulk(seen.play.priors)
    return all(is_value(found[n].object_value, value) for n, value in zip(seen.play.priors, given, strict=True))


def recorded_in_order(seen: Seen, m: re.Match[str]) -> bool:
    """No new record says that it was recorded before the case began."""
    begun = max(state["recorded_at"] for _, state in priors(seen))
    return all(r.recorded_at > begun for r in seen.new())


def no_such_value(seen: Seen, m: re.Match[str]) -> bool:
    """No observation of the steps affirms this value."""
    found = [o for o in seen.observations() if o.polarity == m["polarity"]]
    words = rows("evidence.Wording").filter(of__in=[o.id for o in found], kind="value").values_list("text", flat=True)
    return not any(m["value"] in word for word in words)


def ends_not_swapped(seen: Seen, m: re.Match[str]) -> bool:
    """Every observation of the predicate led to a record with its own two ends, in their order."""
    found = rows("relationships.ObservationResolution").filter(predicate_key=m["p"], relationship__isnull=False)
    pairs = [(r.subject_entity_id == r.relationship.subject_entity_id) for r in found.select_related("relationship")]
    return bool(pairs) and all(pairs)


def none_named(seen: Seen, m: re.Match[str]) -> bool:
    """No entity bears one of these names."""
    names = [name.strip() for name in m["names"].split("/")]
    found = rows("entities.Name").filter(key__in=[lookup_key(n) for n in names]).values_list("display", flat=True)
    return seen.equal(list(found), [])


def answers_refused(seen: Seen, m: re.Match[str]) -> bool:
    """A cut answer led to nothing: no observation, no record, and each was told as cut."""
    cut = [call for call in seen.asked() if call.told]
    return nothing_salvaged(seen, m) and all("[truncated]" in call.told for call in cut)


def no_identity_left(seen: Seen, m: re.Match[str]) -> bool:
    """Nothing of the verifier's choices was written."""
    found = rows("entities.ResolutionEvent").filter(ingest_id__in=seen.ingests())
    return seen.equal(found.count(), 0)


def nobody_reset(seen: Seen, m: re.Match[str]) -> bool:
    """Nobody but the workers touched the items."""
    return not rows("placement.ItemEvent").exclude(actor=None).filter(state="queued", version__gt=1).exists()


def others_went_on(seen: Seen, m: re.Match[str]) -> bool:
    """While the dead lease lasted, all other items of the team and those of another team were placed."""
    states = seen.play.found["while_leased"]
    leased = [state for state in states if state not in FINAL]
    elsewhere = seen.play.found.get("elsewhere_state", "completed")
    seen.note((states, elsewhere))
    return 0 < len(leased) < len(states) and elsewhere in FINAL


def answer_whole(seen: Seen, m: re.Match[str]) -> bool:
    """What was written is what the last whole answer says, and nothing of those before it."""
    last = seen.asked("verify")[-1]
    refs = {e["mention_ref"] for e in rows("entities.ResolutionEvent").filter(ingest_id__in=seen.ingests()).values()}
    asked = {mention["ref"] for mention in last.request["entity_mentions"]}
    told = [call.told for call in seen.asked("verify")]
    return refs == asked and all(text for text in told[1:])


FORBIDDEN: Final = phrases(
    "must_not",
    (r"second RelationshipRecord", no_second_record),
    (r"promotion to fact by repetition|tier fact", no_fact),
    (r"retraction or deletion of the first record", never_left),
    (r"(?P<one>\w+) and (?P<other>\w+) merged", apart),
    (r"shared lookup key for (?P<one>\S+) and (?P<other>\S+)", keys_apart),
    (r"offset computed on a casefolded or NFKC copy", spans_on_original),
    (r"guessing the unit", wrong_spans_refused),
    (r"shifting the span to where the surface is found", none_shifted),
    (r"typographic folding|NFKC comparison", refused_when_folded),
    (r"(?P<codes>5\d\d)", never_statuses),
    (r"stripping the character|partial storage", nothing_stored_of),
    (r"demotion", no_demotion),
    (r"lexical polarity rule in server code", as_judged),
    (r"polarity '(?P<polarity>[+-])' active", no_denial_active),
    (r"any surface \(path, owner, version\) that is not a substring of the evidence", no_invention),
    (r"active or fact", none_active),
    (TRIPLE, not_active),
    (r"review for a conflict(?:: the intervals do not overlap)?", no_task),
    (r"edit of the prior record's value", value_kept),
    (r"recorded_at backdated", recorded_in_order),
    (r"(?P<value>\S+) as a '(?P<polarity>[+-])' observation", no_such_value),
    (r"dedupe of (?P<p>\w+) with swapped ends", ends_not_swapped),
    (r"entity(?: named)? (?P<names>\w+(?: / \w+)*)", none_named),
    (r"keeping the first complete objects|closing the brackets in code", answers_refused),
    (r"partial commit of entity results", no_identity_left),
    (r"silent rewriting of evidence|masking the commit hash", unchanged),
    (r"manual reset", nobody_reset),
    (r"blocking of other items or teams by the dead lease", others_went_on),
    (r"splicing attempt \d+'s \w+ with attempt \d+'s \w+", answer_whole),
)
