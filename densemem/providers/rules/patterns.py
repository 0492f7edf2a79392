"""The patterns of every predicate, English first. A predicate without a pattern never becomes active by rules."""

from collections.abc import Iterator
from functools import cache

from densemem.providers.rules.foreign import foreign
from densemem.providers.rules.forms import ADVERB, Form, aside, being, event, framed, gap, happened, slotted, state
from densemem.providers.rules.lexicon import ROLE_HEADS
from densemem.providers.rules.wording import expand

_ORG = r"(?:\p{L}[\p{L}-]*\s+){0,4}(?:company|corporation|firm|startup|start-up|manufacturer|retailer|provider|developer|publisher|organi[sz]ation|bank|agency|chain|operator|brand|label|consultancy|producer|supplier|group|airline|studio|charity|foundation|magazine|newspaper)"
_CHIEF = r"(?:(?:current|interim|acting|new|global)\s+)?(?:(?:co-)?(?:[Ff]ounder|owner|[Pp]resident|[Cc]hairman|[Cc]hairwoman|chair|[Dd]irector|managing director|general manager)(?:,|\s+and|\s*&|\s*/)\s*)?(?:CEO|ceo|[Cc]hief\s+[Ee]xecutive(?:\s+[Oo]fficer)?)(?:\s*\(CEO\))?(?:\s+(?:and|&)\s+(?:[Cc]o-)?(?:[Ff]ounder|owner|[Pp]resident|[Cc]hairman|chair))?"
_FOUNDER = r"(?:(?:sole|original)\s+)?(?:[Cc]o-?)?[Ff]ounder(?:(?:,|\s+and|\s*&)\s*(?:(?:current|former)\s+)?(?:CEO|president|chairman|chief executive(?: officer)?|owner|director|editor))?"
_TITLED_FOUNDER = r"(?:(?:CEO|president|chairman|owner|director)\s*(?:and|&)\s+)?" + _FOUNDER
_DEGREE = r"(?:(?:an?|his|her|their)\s+)?(?:[\p{L}.'’-]+\s+){0,4}?(?:degree|diploma|B\.?A\.?|B\.?S\.?|B\.?Sc\.?|M\.?A\.?|M\.?S\.?|M\.?Sc\.?|M\.?B\.?A\.?|Ph\.?D\.?|J\.?D\.?|M\.?D\.?|doctorate|bachelor['’]?s|master['’]?s)(?:\s+(?:in|of)\s+(?:[\p{L}&-]+\s+){0,4}?[\p{L}&-]+)?"
_JOB = rf"(?:(?:[\p{{L}}-]+\s+){{0,3}}?(?:{'|'.join(sorted(ROLE_HEADS))}))(?:\s+(?:of|for|in)\s+[\p{{L}}-]+(?:\s+(?:and\s+)?[\p{{L}}-]+){{0,2}}?)?"
ROLE = rf"(?:[a-z][\w-]*\s+){{0,3}}?(?:{'|'.join(sorted(ROLE_HEADS))})"
_VERSION = r"v?\d+(?:\.\d+)*(?:[a-z]\d*)?(?:-(?:alpha|beta|rc)[.\d]*)?"
_ZONE = r"[A-Z][A-Za-z]+/[A-Z][A-Za-z_]+|(?:UTC|GMT)(?:\s?[+-]\d{1,2}(?::\d\d)?)?|[A-Z]{2,4}T"
_EMAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.\w{2,}"
_LICENCE = r"(?:the\s+)?(?:[A-Z][A-Za-z]*(?:-?\d+(?:\.\d+)*)?(?:-[\w.]*\w)*)(?:\s+(?:License|Licence))?"
_NICK = r"\p{Lu}[\p{L}\p{N}.'-]*(?:\s\p{Lu}[\p{L}\p{N}.'-]*){0,2}"
_LEVEL = r"(?:very\s+)?(?:high|low|medium|normal|urgent|critical|highest|lowest|[Pp]\d|\d{1,2})"
_STATUS = r"[\p{L}][\p{L}-]*(?:\s(?:track|hold|progress|review|risk))?"


def _people() -> Iterator[Form]:
    """People, their work and where they are."""
    yield from state("works_for", "work works worked", "(?:for|at)")
    yield from state("works_for", "employ employs employed", flip=True)
    yield from being("works_for", "employed (?:by|at)", name="employed by")
    yield from being("works_for", "an employee of")
    yield from being("works_for", rf"(?:an?|the) {_JOB} at", name="an employee of")
    yield from being("member_of", "(?:a|an active) member of", name="a member of")
    yield from state("member_of", "belong belongs belonged", "to", sure=True)
    yield from being("member_of", "(?:part of|on)", sure=True, name="part of")
    yield from state("member_of", "include includes included", flip=True, sure=True)
    yield from event("joined", "join joined joined")
    yield from event("joined", "start started started", "at", sure=True)
    yield from event("joined", "hire hired hired", flip=True)
    yield from event("joined", "welcome welcomed welcomed", flip=True, sure=True)
    yield from happened("joined", "hired by", name="hired by")
    yield from event("left", "leave left left")
    yield from event("left", "depart departed departed", "from")
    yield from event("left", "resign resigned resigned", "from")
    yield from _leading()
    yield from _origins()


def _leading() -> Iterator[Form]:
    """Who leads whom and what."""
    yield from state("leads", "lead leads led")
    yield from state("leads", "head heads headed")
    yield from state("leads", "run runs ran", sure=True)
    yield from being("leads", "(?:led|headed|run) by", flip=True, name="led by")
    yield from being("leads", "(?:the )?(?:head|lead|leader) of", name="the head of")
    yield from state("reports_to", "report reports reported", "(?:directly )?to")
    yield from state("reports_to", "work works worked", "under")
    yield from state("reports_to", "manage manages managed", flip=True)
    yield from state("reports_to", "supervise supervises supervised", flip=True)
    yield from being("reports_to", "(?:managed|supervised) by", name="managed by")
    yield from being("reports_to", "the (?:line )?manager of", flip=True, name="the manager of")
    yield from being("ceo_of", rf"(?:(?:the|a|an) )?{_CHIEF} (?:of|at|for)", name="CEO of")
    yield Form("ceo_of", gap(rf"(?:serves|acts) as (?:the )?{_CHIEF} (?:of|at|for)"), "serves as CEO of")
    yield Form("ceo_of", gap(rf"(?:served|acted) as (?:the )?{_CHIEF} (?:of|at|for)"), "served as CEO of", ended=True)
    yield Form("ceo_of", gap(rf"(?:current )?{_CHIEF} is", left=r"['’]s?\s+"), "'s CEO is", flip=True)
    yield Form("ceo_of", gap(rf"(?:former|previous) {_CHIEF} is", left=r"['’]s?\s+"), "'s CEO was", flip=True, ended=True)
    yield aside("ceo_of", rf",\s(?:the )?(?:current )?{_CHIEF} (?:of|at) (?:the )?", "CEO of")
    yield aside("ceo_of", r"(?:['’]s?)?\s(?:founder and )?CEO,? ", "CEO", flip=True)
    yield aside("leads", r",\s(?:the )?(?:head|leader|lead) of (?:the )?", "head of", sure=True)


def _origins() -> Iterator[Form]:
    """Where people live, learnt, were born, and with whom they live."""
    yield from state("lives_in", "live lives lived", "in")
    yield from state("lives_in", "reside resides resided", "in")
    yield Form("lives_in", gap(r"(?:lives|resides) (?:and works |with (?:his|her|their) [\p{L}\s,]{3,60}? )?in"), "lives in")
    yield from being("lives_in", "based in", sure=True)
    yield Form("born_on", gap(r"was born(?: in \p{Lu}[\p{L}.'’-]+(?:,? \p{Lu}[\p{L}.'’-]+){0,4},?)?(?: on)?"), "was born on")
    yield Form("born_on", gap("was born in"), "was born in")
    yield aside("born_on", r"(?: [\p{L}\p{M}'’\"“” .]{0,40})? ?\((?:[^();]{1,60}; ?)?(?:born|b\.)(?: on| in)? (?:\p{Lu}[\p{L} ]+,? (?:on )?)?", "born on")
    yield aside("born_on", r" ?\((?:[^()\d]{1,60}[;,] ?)?", "born on", after=r" ?(?:in [^()–-]{2,50})?[–-] ?(?:in |c\. ?)?[^()]{4,60}\)")
    yield aside("born_on", r",? \(?born(?: on| in)? ", "born on")
    yield Form("studied_at", gap(rf"(?:{ADVERB})?studied (?:(?:[\p{{L}}-]+ ){{1,4}}?)?at"), "studied at")
    yield from event("studied_at", "graduate graduated graduated", "from")
    yield from event("studied_at", "attend attended attended", sure=True)
    yield Form("studied_at", gap(rf"(?:received|earned|obtained|completed|holds|got|has) {_DEGREE}(?:\s+\((?:[\p{{L}}. ]+)\))? (?:from|at)"), "graduated from")
    yield Form("studied_at", gap(r"(?:is|was) (?:an? |a \d{4} )?(?:graduate|alumnus|alumna|alum) of"), "graduated from")
    yield Form("studied_at", gap("(?:was|were) educated at"), "was educated at")
    yield from being("married_to", "married to")
    yield from being("married_to", "the (?:spouse|wife|husband) of", name="the spouse of")
    yield Form("married_to", gap(rf"(?:{ADVERB})?(?:has been )?married (?:(?:actor|actress|singer|fellow [\p{{L}}]+|model|writer|producer|director|businessman) )?"), "married", sure=True)
    yield aside("married_to", r"(?:['’]s?) (?:wife|husband|spouse),? (?:(?:actor|actress|singer|model) )?", "is married to")
    yield aside("married_to", r",? (?:and|with) (?:his|her) (?:wife|husband),? (?:(?:actor|actress|singer|model) )?", "is married to")
    yield aside("married_to", r",\s(?:the )?(?:wife|husband) of ", "is married to")
    yield from state("speaks", "speak speaks spoke")
    yield from being("speaks", "fluent in")
    yield from being("speaks", "spoken by", flip=True)
    yield from being("skilled_in", "(?:highly )?skilled in", name="skilled in")
    yield from being("skilled_in", "an expert in")
    yield framed("skilled_in", "", r"\s+knows\s+", r"\s+(?:very\s+)?well\b", "knows well")


def _firms() -> Iterator[Form]:
    """Organizations, their teams and their deals."""
    yield from event("founded", "found founded founded")
    yield from event("founded", "co-?found co-?founded co-?founded")
    yield from event("founded", "set set set", "up", sure=True)
    yield Form("founded", gap(rf"(?:is|was) (?:the |a |one of the (?:\w+ )?)?{_TITLED_FOUNDER}s? of"), "is a founder of")
    yield Form("founded", gap(r"(?:was|were) (?:co-)?(?:founded|set up|established|started)(?: in \p{Lu}[\p{L} ,]{2,40}?)?(?: (?:in|on) (?:\p{L}+ (?:\d{1,2}, )?)?\d{4})?(?: in \p{Lu}[\p{L} ,]{2,40}?)?,? by"), "was founded by", flip=True)
    yield aside("founded", rf",\s(?:the )?{_TITLED_FOUNDER} of (?:the )?", "founder of")
    yield aside("founded", rf"(?:['’]s?)?\s{_FOUNDER},? ", "founder", flip=True)
    yield aside("founded", r",? (?:which was |a \p{L}+ )?(?:co-)?founded(?: in (?:\p{L}+ )?\d{4})? by ", "founded by", flip=True)
    yield Form("founded_on", gap(r"(?:was|were) (?:originally |first |officially )?(?:founded|established|formed|set up|incorporated|created|started)(?: by [\p{L}.'’&, -]{3,70}?)?(?: in \p{Lu}[\p{L}.,' -]{2,40}?,?)? (?:in|on|as early as)"), "was founded in")
    yield aside("founded_on", r",? (?:which was )?\(?(?:founded|established|formed|incorporated|est\.|created)(?: in| on)? ", "founded in")
    yield framed("founded_on", r"(?:^|\s)(?:Founded|Established|Formed|Incorporated)\s+(?:in|on)\s+", r"(?:\s+(?:in|by)\s+\p{Lu}[\p{L}.,'’& -]{2,60}?)?,\s+(?:the\s+)?", r"(?!,)", "was founded in", flip=True)
    yield from being("subsidiary_of", r"(?:a|an|the) (?:(?:wholly|majority|fully)[ -]owned |[\p{L}-]+ ){0,2}?(?:subsidiary|division|unit) of", name="a subsidiary of")
    yield from being("subsidiary_of", "the parent(?: company)? of", flip=True, name="the parent of")
    yield Form("subsidiary_of", gap(r"has a subsidiary (?:named|called)"), "has a subsidiary named", flip=True)
    yield aside("subsidiary_of", r",?\s\(?(?:which is )?(?:a|an|the|now a) (?:(?:wholly|majority|fully)[ -]owned |[\p{L}-]+ ){0,2}?(?:subsidiary|division|unit) of (?:the )?", "subsidiary of")
    yield from being("team_of", "a (?:team|department) (?:at|of|within|in)", name="a team at")
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
    yield from being("headquartered_in", r"(?:(?:an?|the) (?:[\p{L}-]+ ){1,7}?)?headquartered (?:in|at)", name="headquartered in")
    yield Form("headquartered_in", gap(rf"(?:is|are) an? {_ORG} (?:that is |which is )?based (?:in|out of)"), "is headquartered in")
    yield Form("headquartered_in", gap(r"has its (?:head office|headquarters?|main office) (?:located )?(?:in|at)"), "has its head office in")
    yield Form("headquartered_in", gap(r"(?:headquarters|head office) (?:is|are) (?:located )?(?:in|at)", left=r"['’]s?\s+"), "is headquartered in")
    yield aside("headquartered_in", r",? (?:which is |with )?(?:headquartered|(?:its )?headquarters) (?:in|at) (?:the )?", "headquartered in")
    yield Form("headquartered_in", r"\s+is\s+an?\s+(?:[\p{L}-]+\s+){0,2}?", "is headquartered in", after_source=rf"(?:, \p{{Lu}}[\p{{L}} .]+)?-based\s+{_ORG}\b")
    yield from being("located_in", "(?:located|situated) in", name="located in")
    yield from being("located_in", "based in", sure=True)
    yield from being("located_in", "in", sure=True)
    yield from state("deployed_on", "run runs ran", "in", sure=True)
    yield from being("deployed_on", "(?:deployed|hosted) (?:on|in)", name="deployed on")


def _work() -> Iterator[Form]:
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
    for verb, rest in (("decide decided decided", "(?:on|to use)"), ("choose chose chosen", ""), ("agree agreed agreed", "on"), ("settle settled settled", "on")):
        yield from event("decided", verb, rest)
    yield from happened("decided", "(?:chosen|agreed) by", flip=True, name="chosen by")
    for verb, rest in (("approve approved approved", ""), ("sign signed signed", "off on"), ("accept accepted accepted", "")):
        yield from event("approved", verb, rest)
    yield from happened("approved", "(?:approved|signed off) by", flip=True, name="approved by")
    for verb, rest in (("reject rejected rejected", ""), ("turn turned turned", "down"), ("decline declined declined", "")):
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
    yield slotted("has_role", r"no longer (?P<w>works as|serves as|acts as) (?:an?|the|our|its)", "text", ROLE, ended=True)
    yield slotted("has_role", r"acts as", "text", ROLE, wording="acts as")
    yield slotted("has_role", rf"is {ADVERB}?the", "text", ROLE, wording="is the")
    yield slotted("status_is", r"(?P<w>has status|is in status|has the status)", "text", _STATUS)
    yield slotted("priority_is", r"(?P<w>has priority)", "text", _LEVEL)
    yield slotted("has_version", rf"(?P<w>is (?:{ADVERB})?(?:at|on) version)", "text", _VERSION)
    yield slotted("licensed_under", r"is (?P<w>licensed|released) under(?: the)?", "text", _LICENCE, wording="is licensed under")
    yield slotted("time_zone", r"(?P<w>is in the time zone|works in time zone)", "text", _ZONE)
    yield slotted("email_of", r"(?P<w>can be reached at|has the email address)", "text", _EMAIL)
    yield slotted("also_known_as", r"(?P<w>is also known as|is nicknamed|goes by)", "text", _NICK)


@cache
def forms() -> tuple[Form, ...]:
    """Return every pattern in a fixed order."""
    groups = (_people(), _firms(), _work(), _texts(), foreign())
    return tuple(form for group in groups for form in group)


@cache
def wordings() -> dict[str, list[str]]:
    """Return, for each predicate key, every wording that the patterns can emit, in lower case with single blanks."""
    found: dict[str, set[str]] = {}
    for form in forms():
        found.setdefault(form.key, set()).update(_spellings(form))
    return {key: sorted(words) for key, words in sorted(found.items())}


def _spellings(form: Form) -> set[str]:
    """Spell out the finite alternatives of a form's wording."""
    if form.wording is not None:
        return {form.wording.casefold()}
    return {text.casefold() for text in expand(_group_source(form.source))}


def _group_source(pattern: str) -> str:
    """Return the source of the group `w` of a pattern."""
    begin = pattern.index("(?P<w>") + len("(?P<w>")
    depth, end = 1, begin
    while depth:
        depth += {"(": 1, ")": -1}.get(pattern[end], 0)
        end += 1
    return pattern[begin : end - 1]
