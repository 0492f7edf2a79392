"""Patterns about organizations: founders, parents, deals, places."""
# ruff: noqa: E501 - an expression is read as one line

from collections.abc import Iterator

from densemem.providers.rules.forms import Form, aside, being, event, framed, gap, happened, state

_ORG = r"(?:\p{L}[\p{L}-]*\s+){0,4}(?:company|corporation|firm|startup|start-up|manufacturer|retailer|provider|developer|publisher|organi[sz]ation|bank|agency|chain|operator|brand|label|consultancy|producer|supplier|group|airline|studio|charity|foundation|magazine|newspaper)"
_FOUNDER = r"(?:(?:sole|original)\s+)?(?:[Cc]o-?)?[Ff]ounder(?:(?:,|\s+and|\s*&)\s*(?:(?:current|former)\s+)?(?:CEO|president|chairman|chief executive(?: officer)?|owner|director|editor))?"
_TITLED_FOUNDER = r"(?:(?:CEO|president|chairman|owner|director)\s*(?:and|&)\s+)?" + _FOUNDER


def firms() -> Iterator[Form]:
    """Organizations, their teams and their deals."""
    yield from event("founded", "found founded founded")
    yield from event("founded", "co-?found co-?founded co-?founded")
    yield from event("founded", "set set set", "up", sure=True)
    yield from event("founded", "establish established established", sure=True)
    yield from event("founded", "form formed formed", sure=True)
    yield Form(
        "founded", gap(rf"(?:is|was) (?:the |a |one of the (?:\w+ )?)?{_TITLED_FOUNDER}s? of"), "is a founder of"
    )
    yield Form(
        "founded",
        gap(
            r"(?:is|was|were) (?:co-)?(?:founded|set up|established|started)(?: in \p{Lu}[\p{L} ,]{2,40}?)?(?: (?:in|on) (?:\p{L}+ (?:\d{1,2}, )?)?\d{4})?(?: in \p{Lu}[\p{L} ,]{2,40}?)?,? by"
        ),
        "was founded by",
        flip=True,
    )
    yield aside("founded", rf",\s(?:the )?{_TITLED_FOUNDER} of (?:the )?", "founder of")
    yield aside("founded", rf"(?:['’]s?)?\s{_FOUNDER},? ", "founder", flip=True)
    yield aside(
        "founded", r",? (?:which was |a \p{L}+ )?(?:co-)?founded(?: in (?:\p{L}+ )?\d{4})? by ", "founded by", flip=True
    )
    yield from _dates_and_parents()


def _dates_and_parents() -> Iterator[Form]:
    """When organizations began and whose they are."""
    yield Form(
        "founded_on",
        gap(
            r"(?:was|were) (?:originally |first |officially )?(?:founded|established|formed|set up|incorporated|created|started)(?: by [\p{L}.'’&, -]{3,70}?)?(?: in \p{Lu}[\p{L}.,' -]{2,40}?,?)? (?:in|on|as early as)"
        ),
        "was founded in",
    )
    yield aside(
        "founded_on",
        r",? (?:which was )?\(?(?:founded|established|formed|incorporated|est\.|created)(?: in| on)? ",
        "founded in",
    )
    yield framed(
        "founded_on",
        r"(?:^|\s)(?:Founded|Established|Formed|Incorporated)\s+(?:in|on)\s+",
        r"(?:\s+(?:in|by)\s+\p{Lu}[\p{L}.,'’& -]{2,60}?)?,\s+(?:the\s+)?",
        r"(?!,)",
        "was founded in",
        flip=True,
    )
    yield from being(
        "subsidiary_of",
        r"(?:a|an|the) (?:(?:wholly|majority|fully)[ -]owned |[\p{L}-]+ ){0,2}?(?:subsidiary|division|unit) of",
        name="a subsidiary of",
    )
    yield Form(
        "subsidiary_of",
        gap(r"operates as (?:an?|the) (?:(?:wholly|majority|fully)[ -]owned )?(?:subsidiary|division|unit) of"),
        "is a subsidiary of",
    )
    yield from being("subsidiary_of", "the parent(?: company)? of", flip=True, name="the parent of")
    yield Form("subsidiary_of", gap(r"has a subsidiary (?:named|called)"), "has a subsidiary named", flip=True)
    yield aside(
        "subsidiary_of",
        r",?\s\(?(?:which is )?(?:a|an|the|now a) (?:(?:wholly|majority|fully)[ -]owned |[\p{L}-]+ ){0,2}?(?:subsidiary|division|unit) of (?:the )?",
        "subsidiary of",
    )
    yield from being("team_of", "a (?:team|department) (?:at|of|within|in)", name="a team at")
    yield from _deals()


def _deals() -> Iterator[Form]:
    """What organizations do with each other."""
    yield from event("acquired", "acquire acquired acquired")
    yield from event("acquired", "buy bought bought")
    yield from event("acquired", "take took taken", "over", sure=True)
    yield from happened("acquired", "(?:acquired|bought|taken over) by", flip=True, name="acquired by")
    yield from state("partner_of", "partner partners partnered", "with")
    yield from being("partner_of", "a partner of")
    yield from state("partner_of", "work works worked", "together with")
    yield from being("customer_of", "a (?:customer|client) of", name="a customer of")
    yield from state("customer_of", "buy buys bought", "from")
    yield from state("customer_of", "supply supplies supplied", flip=True, sure=True)
    yield from state("competitor_of", "compete competes competed", "with")
    yield from being("competitor_of", "a (?:direct |main )?competitor of", name="a competitor of")
    yield from _places()


def _places() -> Iterator[Form]:
    """Where organizations, teams and things are."""
    yield from being(
        "headquartered_in", r"(?:(?:an?|the) (?:[\p{L}-]+ ){1,7}?)?headquartered (?:in|at)", name="headquartered in"
    )
    yield Form(
        "located_in",
        gap(r"(?:is|are) an? (?:[\p{L}.'’-]+ ){1,9}?(?:that is |which is )?based (?:in|out of)"),
        "is based in",
        sure=True,
    )
    yield aside("located_in", r",\s(?:which is )?based in (?:the )?", "based in", sure=True)
    yield Form(
        "headquartered_in",
        gap(r"has its (?:head office|headquarters?|main office) (?:located )?(?:in|at)"),
        "has its head office in",
    )
    yield Form(
        "headquartered_in",
        gap(r"(?:headquarters|head office) (?:is|are) (?:located )?(?:in|at)", left=r"['’]s?\s+"),
        "is headquartered in",
    )
    yield aside(
        "headquartered_in",
        r",? (?:which is |with )?(?:headquartered|(?:its )?headquarters) (?:in|at) (?:the )?",
        "headquartered in",
    )
    yield Form(
        "headquartered_in",
        r"\s+is\s+an?\s+(?:[\p{L}-]+\s+){0,2}?",
        "is headquartered in",
        after_source=rf"(?:, \p{{Lu}}[\p{{L}} .]+)?-based\s+{_ORG}\b",
    )
    yield from being("located_in", "(?:located|situated) in", name="located in")
    yield from being("located_in", "based in", sure=True)
    yield from being("located_in", "in", sure=True)
    yield from state("deployed_on", "run runs ran", "in", sure=True)
    yield from being("deployed_on", "(?:deployed|hosted) (?:on|in)", name="deployed on")
