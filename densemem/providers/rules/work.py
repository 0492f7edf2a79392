"""Patterns about projects, products, documents, events, and predicates with a text object."""
# ruff: noqa: E501 - an expression is read as one line

from collections.abc import Iterator

from densemem.providers.rules.forms import ADVERB, Form, being, event, gap, happened, slotted, state
from densemem.providers.rules.lexicon import ROLE_HEADS

ROLE = rf"(?:[a-z][\w-]*\s+){{0,3}}?(?:{'|'.join(sorted(ROLE_HEADS))})"
_VERSION = r"v?\d+(?:\.\d+)*(?:[a-z]\d*)?(?:-(?:alpha|beta|rc)[.\d]*)?"
_ZONE = r"[A-Z][A-Za-z]+/[A-Z][A-Za-z_]+|(?:UTC|GMT)(?:\s?[+-]\d{1,2}(?::\d\d)?)?|[A-Z]{2,4}T"
_EMAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.\w{2,}"
_LICENCE = r"(?:the\s+)?(?:[A-Z][A-Za-z]*(?:-?\d+(?:\.\d+)*)?(?:-[\w.]*\w)*)(?:\s+(?:License|Licence))?"
_NICK = r"\p{Lu}[\p{L}\p{N}.'-]*(?:\s\p{Lu}[\p{L}\p{N}.'-]*){0,2}"
_LEVEL = r"(?:very\s+)?(?:high|low|medium|normal|urgent|critical|highest|lowest|[Pp]\d|\d{1,2})"
_STATUS = r"[\p{L}][\p{L}-]*(?:\s(?:track|hold|progress|review|risk))?"


def work() -> Iterator[Form]:
    """Projects, products, documents and who has them."""
    for verb, rest in (("work works worked", "on"), ("contribute contributes contributed", "to")):
        yield from state("works_on", verb, rest)
    yield from being("works_on", "working on")
    yield from state("owns", "own owns owned", sure=False)
    yield from being("owns", "the owner of")
    yield from being("owns", "(?:responsible|accountable) for", name="responsible for")
    yield from being("owns", "owned by", flip=True)
    yield from being("owns", "the responsibility of", flip=True)
    yield from state("maintains", "maintain maintains maintained")
    yield from state("maintains", "look looks looked", "after", sure=True)
    yield from being("maintains", "the maintainer of")
    yield from being("maintains", "(?:maintained|looked after) by", flip=True, name="maintained by")
    yield from being("sponsored_by", "(?:sponsored|funded|paid for) by", name="sponsored by")
    yield from state("sponsored_by", "sponsor sponsors sponsored", flip=True)
    yield from state("sponsored_by", "fund funds funded", flip=True)
    yield from state("sponsored_by", "pay pays paid", "for", flip=True, sure=True)
    yield from being("assigned_to", "assigned to")
    yield from being("part_of", "(?:a part|part|a component|a module) of", name="part of")
    yield from state("part_of", "include includes included", flip=True, sure=True)
    yield from state("part_of", "contain contains contained", flip=True, sure=True)
    yield from state("part_of", "consist consists consisted", "of", flip=True, sure=True)
    yield from _needs()


def _needs() -> Iterator[Form]:
    """What things use, need and wait for."""
    yield from state("uses", "use uses used")
    yield from state("uses", "run runs ran", "on")
    yield from state("uses", "rely relies relied", "on")
    yield from being("uses", "built with")
    yield from being("uses", "used by", flip=True)
    yield from state("uses", "power powers powered", flip=True)
    yield from state("depends_on", "depend depends depended", "on")
    yield from state("depends_on", "require requires required")
    yield from state("depends_on", "need needs needed", sure=True)
    yield from being("depends_on", "(?:required|needed) by", flip=True, name="required by")
    yield from being("blocked_by", "(?:blocked|held up) by", name="blocked by")
    yield from being("blocked_by", "waiting for")
    yield from state("blocked_by", "block blocks blocked", flip=True)
    yield from being("blocked_by", "holding up", flip=True)
    yield from _products()
    yield from _events()
    yield from _texts()


def _products() -> Iterator[Form]:
    """What software replaces, talks to, is made of."""
    yield from event("replaces", "replace replaces replaced")
    yield from event("replaces", "replace replaced replaced")
    yield from event("replaces", "supersede supersedes superseded")
    yield from being("replaces", "the successor of")
    yield from happened("replaces", "(?:replaced|superseded) by", flip=True, name="replaced by")
    yield Form("replaces", gap("is (?:now )?(?:replaced|superseded) by"), "is replaced by", flip=True)
    yield from state("integrates_with", "integrate integrates integrated", "with")
    yield from state("integrates_with", "connect connects connected", "to")
    yield from state("integrates_with", "talk talks talked", "to", sure=True)
    yield from state("deployed_on", "host hosts hosted", flip=True, sure=True)
    yield from being("written_in", "(?:written|implemented|coded) in", name="written in")
    yield Form("written_in", gap("is the language of"), "is the language of", flip=True)
    yield from state("supports", "support supports supported")
    yield from being("supports", "compatible with")
    yield from being("supports", "supported by", flip=True)
    yield from state("describes", "describe describes described")
    yield from state("describes", "document documents documented")
    yield from state("describes", "cover covers covered", sure=True)
    yield from being("describes", "about", sure=True)
    yield from being("describes", "(?:described|documented) in", flip=True, name="documented in")
    yield from happened("renamed_to", "renamed(?: to)?", name="renamed to")
    yield Form("renamed_to", gap("is now called"), "is now called")
    yield Form("renamed_to", gap("was (?:formerly|previously) (?:called|known as)"), "was formerly called", flip=True)


def _events() -> Iterator[Form]:
    """Dates, decisions and gatherings."""
    for key, phrase, wording in (
        ("released_on", r"(?:was (?:first )?released|shipped|went live) on", "was released on"),
        ("due_on", r"(?:is due(?: on| by)?|must be finished by|has a deadline of)", "is due on"),
        ("started_on", r"(?:started|began|kicked off) on", "started on"),
        ("ended_on", r"(?:ended|finished|was closed|was cancelled) on", "ended on"),
        ("takes_place_on", r"(?:takes place on|takes place from|is scheduled for|happens on)", "takes place on"),
    ):
        yield Form(key, gap(phrase), wording)
    yield Form("takes_place_on", gap("is on"), "is on", sure=True)
    yield Form("takes_place_in", gap(r"(?:takes place in|is held (?:in|at))"), "takes place in")
    yield Form("due_on", gap("is the (?:deadline for|due date of)"), "is the deadline for", flip=True)
    yield from event("attended", "attend attended attended", sure=True)
    yield from event("attended", "take took taken", "part in")
    yield from event("attended", "speak spoke spoken", "at")
    yield from happened("attended", "attended by", flip=True)
    yield from state("organizes", "organi[sz]e organi[sz]es organi[sz]ed")
    yield from state("organizes", "host hosts hosted", sure=True)
    yield from state("organizes", "arrange arranges arranged")
    yield from being("organizes", "(?:organi[sz]ed|hosted) by", flip=True, name="organized by")
    for verb, rest in (
        ("decide decided decided", "(?:on|to use)"),
        ("choose chose chosen", ""),
        ("agree agreed agreed", "on"),
        ("settle settled settled", "on"),
    ):
        yield from event("decided", verb, rest)
    yield from happened("decided", "(?:chosen|agreed) by", flip=True, name="chosen by")
    for verb, rest in (
        ("approve approved approved", ""),
        ("sign signed signed", "off on"),
        ("accept accepted accepted", ""),
    ):
        yield from event("approved", verb, rest)
    yield from happened("approved", "(?:approved|signed off) by", flip=True, name="approved by")
    for verb, rest in (
        ("reject rejected rejected", ""),
        ("turn turned turned", "down"),
        ("decline declined declined", ""),
    ):
        yield from event("rejected", verb, rest)
    yield from happened("rejected", "(?:rejected|turned down) by", flip=True, name="rejected by")
    for verb in ("write wrote written", "author authored authored", "draft drafted drafted"):
        yield from event("authored", verb)
    yield from happened("authored", "(?:written|drafted|authored) by", flip=True, name="written by")
    yield Form("authored", gap("is the author of"), "is the author of")
    yield Form("costs", gap(r"(?:costs|has a budget of|is budgeted at|is priced at)"), "costs")


def _texts() -> Iterator[Form]:
    """Predicates whose object is a piece of text with a clear end."""
    yield slotted("has_role", rf"(?:{ADVERB}?(?P<w>works as|serves as|acts as) (?:an?|the|our|its))", "text", ROLE)
    yield slotted("has_role", r"(?P<w>(?:worked|served|acted) as) (?:an?|the|our|its)", "text", ROLE, ended=True)
    yield slotted(
        "has_role", r"no longer (?P<w>works as|serves as|acts as) (?:an?|the|our|its)", "text", ROLE, ended=True
    )
    yield slotted("has_role", r"acts as", "text", ROLE, wording="acts as")
    yield slotted("has_role", rf"is {ADVERB}?the", "text", ROLE, wording="is the")
    yield slotted("status_is", r"(?P<w>has status|is in status|has the status)", "text", _STATUS)
    yield slotted("priority_is", r"(?P<w>has priority)", "text", _LEVEL)
    yield slotted("has_version", rf"(?P<w>is (?:{ADVERB})?(?:at|on) version)", "text", _VERSION)
    yield slotted(
        "licensed_under", r"is (?P<w>licensed|released) under(?: the)?", "text", _LICENCE, wording="is licensed under"
    )
    yield slotted("time_zone", r"(?P<w>is in the time zone|works in time zone)", "text", _ZONE)
    yield slotted("email_of", r"(?P<w>can be reached at|has the email address)", "text", _EMAIL)
    yield slotted("also_known_as", r"(?P<w>is also known as|is nicknamed|goes by)", "text", _NICK)
