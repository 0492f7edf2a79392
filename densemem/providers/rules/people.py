"""Patterns about people: work, roles, homes, families."""
# ruff: noqa: E501 - an expression is read as one line

from collections.abc import Iterator

from densemem.providers.rules.forms import ADVERB, Form, aside, being, event, framed, gap, happened, spaced, state
from densemem.providers.rules.lexicon import ROLE_HEADS

_CHIEF = r"(?:(?:current|interim|acting|new|global)\s+)?(?:(?:co-)?(?:[Ff]ounder|owner|[Pp]resident|[Cc]hairman|[Cc]hairwoman|chair|[Dd]irector|managing director|general manager|[Ss]enior partner|[Vv]ice chairman)(?:,|\s+and|\s*&|\s*/)\s*)?(?:CEO|ceo|[Cc]hief\s+[Ee]xecutive(?:\s+[Oo]fficer)?)(?:\s*\(CEO\))?(?:\s+(?:and|&)\s+(?:[Cc]o-)?(?:[Ff]ounder|owner|[Pp]resident|[Cc]hairman|chair))?"
_DEGREE = r"(?:(?:an?|his|her|their)\s+)?(?:[\p{L}.'’-]+\s+){0,4}?(?:degree|diploma|B\.?A\.?|B\.?S\.?|B\.?Sc\.?|B\.?F\.?A\.?|M\.?F\.?A\.?|M\.?A\.?|M\.?S\.?|M\.?Sc\.?|M\.?B\.?A\.?|Ph\.?D\.?|J\.?D\.?|M\.?D\.?|doctorate|bachelor['’]?s|master['’]?s)(?:\s+(?:in|of)\s+(?:[\p{L}&-]+\s+){0,4}?[\p{L}&-]+)?"
_JOB = rf"(?:(?:[\p{{L}}-]+\s+){{0,3}}?(?:{'|'.join(sorted(ROLE_HEADS))}))(?:\s+(?:of|for|in)\s+[\p{{L}}-]+(?:\s+(?:and\s+)?[\p{{L}}-]+){{0,2}}?)?"
_POST = rf"(?:(?:[\p{{L}}-]+\s+){{0,3}}?(?i:{'|'.join(sorted(ROLE_HEADS))})(?:\s+(?:of|for|in)\s+[\p{{L}}&-]+(?:\s+(?:[\p{{L}}&-]+)){{0,4}}?)?)"


def people() -> Iterator[Form]:
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
    yield Form(
        "works_for", gap(rf"is (?:{ADVERB})?(?:(?:an?|the) )?{_POST} (?:at|with)"), "is an employee of", sure=True
    )
    yield Form(
        "works_for", gap(rf"was (?:(?:an?|the) )?{_POST} (?:at|with)"), "was an employee of", ended=True, sure=True
    )
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
    yield framed("ceo_of", "", r"\s+is\s+", rf"['’]s?\s+{spaced(_CHIEF)}(?![\p{{L}}])", "is CEO of")
    yield Form("ceo_of", gap(rf"(?:serves|acts) as (?:the )?{_CHIEF} (?:of|at|for)"), "serves as CEO of")
    yield Form("ceo_of", gap(rf"(?:served|acted) as (?:the )?{_CHIEF} (?:of|at|for)"), "served as CEO of", ended=True)
    yield Form("ceo_of", gap(rf"(?:current )?{_CHIEF} is", left=r"['’]s?\s+"), "'s CEO is", flip=True)
    yield Form(
        "ceo_of", gap(rf"(?:former|previous) {_CHIEF} is", left=r"['’]s?\s+"), "'s CEO was", flip=True, ended=True
    )
    yield aside("ceo_of", rf",\s(?:the )?(?:current )?{_CHIEF} (?:of|at) (?:the )?", "CEO of")
    yield aside("ceo_of", r"(?:['’]s?)?\s(?:founder and )?CEO,? ", "CEO", flip=True)
    yield aside("leads", r",\s(?:the )?(?:head|leader|lead) of (?:the )?", "head of", sure=True)


def _origins() -> Iterator[Form]:
    """Where people live, learnt, were born, and with whom they live."""
    yield from state("lives_in", "live lives lived", "in")
    yield from state("lives_in", "reside resides resided", "in")
    yield Form(
        "lives_in", gap(r"(?:lives|resides) (?:and works |with (?:his|her|their) [\p{L}\s,]{3,60}? )?in"), "lives in"
    )
    yield from being("lives_in", "based in", sure=True)
    yield Form(
        "born_on",
        gap(r"was born(?: in \p{Lu}[\p{L}.'’-]+(?:,? \p{Lu}[\p{L}.'’-]+){0,4},?)?(?: on| in)?"),
        "was born on",
    )
    yield Form("born_on", gap("was born in"), "was born in")
    yield aside(
        "born_on",
        r"(?: [\p{L}\p{M}'’\"“” .]{0,40})? ?\((?:[^()]{1,80}[;,] ?)?(?:born|b\.)(?: on| in)? (?:\p{Lu}[\p{L} ]+,? (?:on )?)?",
        "born on",
    )
    yield aside(
        "born_on",
        r"(?:,? \p{Lu}{2,6}){0,3} ?\((?:[^()\d]{1,60}[;,] ?)?",
        "born on",
        after=r" ?(?:in [^()–-]{2,50})?[–-] ?(?:in |c\. ?)?[^()]{4,60}\)",
    )
    yield aside("born_on", r",? \(?born(?: on| in)? ", "born on")
    yield Form("studied_at", gap(rf"(?:{ADVERB})?studied (?:(?:[\p{{L}}-]+ ){{1,4}}?)?at"), "studied at")
    yield from event("studied_at", "graduate graduated graduated", "from")
    yield from _families()


def _families() -> Iterator[Form]:
    """Schools, spouses, languages and skills."""
    yield from event("studied_at", "attend attended attended", sure=True)
    yield Form(
        "studied_at",
        gap(rf"(?:received|earned|obtained|completed|holds|got|has) {_DEGREE}(?:\s+\((?:[\p{{L}}. ]+)\))? (?:from|at)"),
        "graduated from",
    )
    yield Form("studied_at", gap(r"graduated(?: with [\p{L}. ]{2,50}?)?(?: in \d{4})? from"), "graduated from")
    yield Form("studied_at", gap(r"(?:is|was) (?:an? |a \d{4} )?(?:graduate|alumnus|alumna|alum) of"), "graduated from")
    yield Form("studied_at", gap("(?:was|were) educated at"), "was educated at")
    yield from being("married_to", "married to")
    yield from being("married_to", "the (?:spouse|wife|husband) of", name="the spouse of")
    yield Form(
        "married_to",
        gap(
            rf"(?:{ADVERB})?(?:has been )?married(?: (?:actor|actress|singer|fellow [\p{{L}}]+|model|writer|producer|director|businessman))?"
        ),
        "married",
        sure=True,
    )
    yield aside(
        "married_to", r"(?:['’]s?) (?:wife|husband|spouse),? (?:(?:actor|actress|singer|model) )?", "is married to"
    )
    yield aside(
        "married_to",
        r",? (?:and|with) (?:his|her) (?:wife|husband),? (?:(?:actor|actress|singer|model) )?",
        "is married to",
    )
    yield aside("married_to", r",\s(?:the )?(?:wife|husband) of ", "is married to")
    yield from state("speaks", "speak speaks spoke")
    yield from being("speaks", "fluent in")
    yield from being("speaks", "spoken by", flip=True)
    yield from being("skilled_in", "(?:highly )?skilled in", name="skilled in")
    yield from being("skilled_in", "an expert in")
    yield framed("skilled_in", "", r"\s+knows\s+", r"\s+(?:very\s+)?well\b", "knows well")
