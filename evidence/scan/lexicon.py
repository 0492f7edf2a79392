"""The English rules of the injection scan: what a text says when it gives orders to its reader ("Stage 2").

A rule is heads (a word, or the beginning of words with `*`) and what must follow. The names in braces
stand for the shared lists below; a gap never crosses the end of a sentence, and every repeat is bounded.
"""

import re
from collections.abc import Iterable
from typing import Final

from evidence.scan.model import Rule
from evidence.scan.views import fold_text
from evidence.vocabulary import Severity, SignalKind

OVERRIDE, EXTRACT = SignalKind.INSTRUCTION_OVERRIDE, SignalKind.PROMPT_SECRET_EXTRACTION
TOOL, ROLE, OBSCURE = SignalKind.TOOL_EXFILTRATION, SignalKind.ROLE_CONTROL_SPOOFING, SignalKind.OBFUSCATED_INSTRUCTION
LOW, MEDIUM, HIGH = Severity.LOW, Severity.MEDIUM, Severity.HIGH

_STEP: Final = r"(?:[^\w.!?;\n]{1,3}+[\w’'-]{1,24}+)"

PARTS: Final = {
    "gap": _STEP + r"{0,4}?[^\w.!?;]{1,4}+",
    "near": _STEP + r"{0,1}?[^\w.!?;]{1,4}+",
    "far": _STEP + r"{0,9}?[^\w.!?;]{1,4}+",
    "old": r"(?:previous(?:ly)?|prior|preceding|above|earlier|foregoing|former|"
    r"initial|original|existing|current|other|"
    r"system|developer|operator(?:['’]s)?|safety|content|ethical|built-in|"
    r"your|all|any|every|these|those)\b",
    "orders": r"(?:instructions?|directives?|directions|orders|commands?|prompts?|"
    r"rules|guidelines?|guardrails?|"
    r"constraints|restrictions|polic(?:y|ies)|programming|training|safeguards?|"
    r"protocols|messages? from the system)\b",
    "secret": r"(?:pass ?words?|passphrases?|passcodes?|pass code|secret (?:key|"
    r"code|word|phrase)s?|api keys?|credentials|"
    r"access (?:code|token|key)s?|private keys?|environment variables|"
    r"confidential (?:data|string|information)|"
    r"internal configuration)\b",
    "prompt": r"(?:system|initial|hidden|original|secret|internal|developer)(?:['’]s)? ?(?:prompts?|"
    r"instructions?|messages?|"
    r"directives?|configuration)\b",
    "machine": r"(?:ai|a\.i\.|assistants?|chat ?bots?|bots?|llms?|language models?|gpt|chatgpt|agents?)\b",
    "limits": r"(?:restrictions?|limits|limitations?|filters?|censorship|guidelines|"
    r"content polic(?:y|ies)|"
    r"ethic(?:s|al)|rules|boundaries|guardrails)\b",
    "address": r"(?:https?://|[\w.+-]{1,40}@[\w-]{1,40}\.)",
    "mode": r"(?:developer|dev|god|dan|jailbreak|unrestricted|sudo|system|override|"
    r"admin|maintenance|debug|"
    r"[a-z]{2,20} override)",
    "code": r"(?:base ?-?(?:16|32|64)|rot-?13|morse|caesar|hex(?:adecimal)?|binary|" r"pig latin|leetspeak|ciphers?)\b",
    "act": r"(?:say|state|output|print|tell|write|respond|answer|give|list|reply|"
    r"repeat|forward|send|direct|instead|admit)\b",
}


def rule(kind: SignalKind, severity: Severity, heads: str, rest: str = "", *, anywhere: bool = False) -> Rule:
    """Build a rule from its heads, parted by white space, and the pattern that must follow one of them."""
    words = fold_text(heads).split()
    end = "" if anywhere else r"(?!\w)"
    head = "|".join(re.escape(word[:-1]) + r"\w{0,9}+" if word[-1] == "*" else re.escape(word) + end for word in words)
    source = f"(?:{head})" + fold_text(re.sub(r"\{([a-z]+)\}", lambda name: PARTS[name.group(1)], rest))
    return Rule(kind, severity, tuple(words), re.compile(source), anywhere)


def rules(rows: Iterable[tuple[SignalKind, Severity, str, str]], *, anywhere: bool = False) -> tuple[Rule, ...]:
    """Build the rules of a table."""
    return tuple(rule(*row, anywhere=anywhere) for row in rows)


_DROP: Final = (
    "ignore ignoring disregard disregarding forget forgetting overlook "
    "bypass bypassing override overriding neglect "
    "discard skip dismiss abandon supersede supersedes ignor omit"
)
_SHOW: Final = (
    "reveal show print output display repeat tell leak dump expose share "
    "give disclose list write recite return echo "
    "provide send translate summarize confirm spell copy"
)

ENGLISH: Final = rules(
    (
        # Instruction override.
        (OVERRIDE, HIGH, _DROP, r"{gap}{old}{gap}{orders}"),
        (
            OVERRIDE,
            HIGH,
            _DROP,
            r"(?:{near})?(?:your|all|these|those|my)(?:[^\w.!?;]{1,3}(?:of|the|your)){0,2} {orders}",
        ),
        (OVERRIDE, MEDIUM, _DROP, r"{gap}{orders}{near}(?:above|before|you|that tell|so far|given)\b"),
        (
            OVERRIDE,
            MEDIUM,
            _DROP,
            r"(?: about)? (?:everything|anything|all|every ?thing|everthing|whatever|what)\b{gap}"
            r"(?:above|before|been told|were told|been instructed|instructed|learned|preceding|prior)\b",
        ),
        (OVERRIDE, MEDIUM, _DROP, r"(?: all| everything)?(?: of)? the (?:above|foregoing|preceding)\b"),
        (OVERRIDE, MEDIUM, _DROP, r" (?:the|this|that|all|any|your)\b{gap}(?:,? and|,? but|;) (?:\w{1,15} ){0,1}{act}"),
        (
            OVERRIDE,
            MEDIUM,
            "do don't dont don’t stop never no",
            r"(?: not| longer)? (?:listen(?:ing)? to|follow(?:ing)?|obey(?:ing)?|"
            r"adher(?:e|ing) to|comply(?:ing)? with){gap}{old}{gap}(?:{orders}|information|context)",
        ),
        (
            OVERRIDE,
            MEDIUM,
            "new updated real true actual revised",
            r" (?:instructions?|directives?|tasks?|orders?|objective|goal)"
            r"(?: ?:| (?:supersedes?|overrides?|is to|are to)\b)",
        ),
        (
            OVERRIDE,
            MEDIUM,
            "from",
            r" now on,? (?:on,? )?(?:you\b|your\b|act\b|ignore\b|respond\b|answer\b|reply\b|behave\b)",
        ),
        (
            OVERRIDE,
            MEDIUM,
            "you you're",
            r"(?: are| will| must| shall)?(?: now| be| become){1,3}(?: acting as|"
            r" called| going to act as)?"
            r" (?:an? |in |the )?(?:{near})?(?:dan|{mode} mode|unrestricted|uncensored|"
            r"unfiltered|jailbroken|free from|{machine})\b",
        ),
        (
            OVERRIDE,
            MEDIUM,
            "you you're",
            r"(?: are| have| can| must| will)?{near}(?:no|free from|not bound by|"
            r"unbound by|without|without any) "
            r"(?:\w{1,15} ){0,2}{limits}",
        ),
        (
            OVERRIDE,
            LOW,
            "enable enabled enter entering activate activated activating initiate initiating switch in",
            r"(?: (?:to|into|an?|the|now)){0,2}[^\w.!?;]{1,3}(?:developer|dan|"
            r"god|jailbreak|unrestricted|sudo|override|maintenance|"
            r"law enforcement override|knowledge verification) mode\b",
        ),
        (
            OVERRIDE,
            MEDIUM,
            "answer respond reply act behave comply speak talk",
            r"{gap}(?:without|with no|no)(?: any)? "
            r"(?:\w{1,15} ){0,1}{limits}",
        ),
        (
            OVERRIDE,
            MEDIUM,
            "pretend act imagine simulate roleplay become",
            r"{gap}{machine}{gap}(?:no|without|unrestricted|"
            r"uncensored|unfiltered|does not|doesn't|not)\b",
        ),
        (OVERRIDE, MEDIUM, "pretend", r" (?:to have|you(?:'ve| have)?) (?:forgotten|forgot)\b"),
        (OVERRIDE, MEDIUM, "do", r" anything now\b"),
        (OVERRIDE, MEDIUM, "dan", r" (?:mode|stands for|can do|can override|does not)\b"),
        (
            OVERRIDE,
            MEDIUM,
            "must have should",
            r"(?: to)? (?:obey|comply with|answer|follow|listen to)(?: with)? (?:every|all|any|my|only)"
            r"(?: of)?(?: my| the)? (?:orders?|commands?|requests?|questions?|instructions?)\b",
        ),
        (OVERRIDE, MEDIUM, "follow obey", r" only (?:my|user|the user's|these) (?:commands?|orders?|instructions?)\b"),
        (
            OVERRIDE,
            MEDIUM,
            "safety content ethical security",
            r" (?:protocols?|filters?|checks?|rules?|guidelines?|polic(?:y|ies))"
            r"(?: (?:are|is|have been))?(?: now)? (?:disabled|off|deactivated|"
            r"suspended|lifted|do not apply|don't apply)\b",
        ),
        (
            OVERRIDE,
            MEDIUM,
            "skip bypass disable suspend turn",
            r"(?: off)? (?:all |any |the |your ){0,2}(?:safety|content|security) "
            r"(?:protocols?|filters?|checks?|rules?|guidelines?|polic(?:y|ies))\b",
        ),
        (
            OVERRIDE,
            MEDIUM,
            "regardless",
            r" of (?:any |all )?(?:previous|prior|earlier) (?:tasks?|instructions?|prompts?)\b",
        ),
        # Prompt or secret extraction.
        (EXTRACT, HIGH, _SHOW, r"{gap}{prompt}"),
        (
            EXTRACT,
            MEDIUM,
            _SHOW,
            r"{gap}(?:your|above|previous|preceding|prior)(?: \w{1,12}){0,1} (?:prompts?|"
            r"instructions?|directives?|"
            r"programming)\b",
        ),
        (
            EXTRACT,
            MEDIUM,
            _SHOW,
            r"{gap}instructions?(?: that)? (?:you (?:were|are|have|had|got)|you've|" r"given|so far|to me)\b",
        ),
        (
            EXTRACT,
            MEDIUM,
            "output print repeat reveal recite dump",
            r" (?:me )?(?:everything|all|the (?:full|entire|raw)){gap}"
            r"(?:above|context|conversation|system|database|prompt|instructions)\b",
        ),
        (
            EXTRACT,
            MEDIUM,
            _SHOW,
            r"(?: me| us)?(?: with)?{near}(?:your|our|any|all|internal|me the|" r"us the|me a){near}{secret}",
        ),
        (
            EXTRACT,
            MEDIUM,
            _SHOW,
            r" (?:me )?(?:the |an? )?(?:\w{1,12} ){0,2}(?:about |with |in |using )?(?:the |"
            r"your |any )?{secret}"
            r"(?=[^\w]{0,2}$|[^\w]{1,3}(?:in|as|using|you can|for (?:this|our|the) (?:system|mode))\b)",
        ),
        (
            EXTRACT,
            LOW,
            "what what's whats",
            r"(?:['’]s| is| are| was| were| would)? (?:the |your |our |my )(?:\w{1,12} ){0,2}"
            r"(?:{secret}|system prompt\b|instructions\b)",
        ),
        (EXTRACT, LOW, "need know want ask asked", r" (?:to know )?(?:for )?(?:your|the) (?:system )?{secret}"),
        (
            EXTRACT,
            LOW,
            "tell give share confirm print show provide",
            r"(?: me| us){near}(?:the |your )?(?:user|users|database|list of users|"
            r"customers?)(?:['’]s?)?{gap}(?:address|balance|database|password|"
            r"birth|live|lives|residence|account|initials)\b",
        ),
        (
            EXTRACT,
            LOW,
            "where what can",
            r"(?:['’]s| is| does| do| are| you tell me){near}(?:first three letters of )?(?:the user(?:['’]s)?) "
            r"(?:\w{1,15} ){0,3}(?:live|living|address|email|password|balance|"
            r"birth|residence|initials|favorite)\b",
        ),
        (
            EXTRACT,
            LOW,
            "give tell",
            r" me \w{1,20}['’]s (?:\w{1,15} ){0,2}(?:birth date|email address|"
            r"city of residence|bank balance|"
            r"social security number)\b",
        ),
        # Tools and exfiltration.
        (
            TOOL,
            MEDIUM,
            "call use invoke run execute trigger using",
            r" (?:the )?[`'\"]?(?:send|email|http|post|delete|write|exec|execute|"
            r"fetch|upload|transfer|read|run|get|web|file|shell|browser)_\w{2,30}",
        ),
        (
            TOOL,
            MEDIUM,
            "send forward email e-mail post upload transmit exfiltrate submit copy transfer mail",
            r"{far}(?:all|full|entire|every|database|customers?|credentials|passwords?|"
            r"secrets?|conversation|records|contents?|"
            r"history|summary|messages)\b{far}(?:to|externally|at)\b(?:{gap}(?:{address}|"
            r"external|attacker|webhook)|"
            r" (?:my|this|the following) )",
        ),
        (
            TOOL,
            MEDIUM,
            "exfiltrate forward send leak",
            r"{gap}(?:data|credentials|records|secrets?|database|history)\b{gap}(?:externally|"
            r"outside|attacker)\b",
        ),
        (
            TOOL,
            MEDIUM,
            "when once upon after",
            r"(?: you| an ai)? (?:read|reading|process|processing|see|parse) this,? "
            r"(?:\w{1,15} ){0,2}(?:email|send|forward|call|post|run|reveal|print|delete|visit)\b",
        ),
        (
            TOOL,
            MEDIUM,
            "save store remember add write commit",
            r"{far}(?:to|in|into) your (?:long-term |persistent )?memory\b",
        ),
        (
            TOOL,
            MEDIUM,
            "include included append appended add added repeat mention insert always output",
            r"{far}(?:every|each|all|any)"
            r" (?:\w{1,12} ){0,2}(?:reply|replies|responses?|answers?|reports?|"
            r"summary|summaries|outputs?)\b",
        ),
        # Role and control spoofing.
        (
            ROLE,
            MEDIUM,
            "note notice message instruction instructions attention important reminder for",
            r"(?: \w{1,10}){0,1} (?:to|for)? ?"
            r"(?:the |any |all |an? )?(?:\w{1,10} )?{machine}[^\w\n]{0,3}(?:systems? |"
            r"agents? )?(?:reading|processing|parsing|"
            r"summari[sz]ing|:)",
        ),
        (
            ROLE,
            MEDIUM,
            "ai llm assistant assistants agent agents bot chatbot",
            r"(?: \w{1,12}){0,1} (?:reading|processing|parsing|summari[sz]ing) (?:this|these)\b",
        ),
        (
            ROLE,
            LOW,
            "i'm i’m i imagine",
            r"(?: am)?(?: now| actually| also| i'm| the){0,2} (?:(?:your|an?|the) )?(?:system )?(?:developer|"
            r"creator|"
            r"maintainer|administrator|god|admin|police officer|president of the united states)\b{far}(?:you|"
            r"i need|system|audit|"
            r"password|answer)",
        ),
        (
            ROLE,
            LOW,
            "as",
            r" (?:your (?:creator|developer|administrator|boss|god)\b|an ai (?:developed|" r"created|trained|made) by)",
        ),
        (
            ROLE,
            MEDIUM,
            "the",
            r" user (?:is (?:now )?(?:an? )?(?:admin|administrator|clearly authori[sz]ed|"
            r"authori[sz]ed)|has granted permission)\b",
        ),
        (
            ROLE,
            MEDIUM,
            "you",
            r" (?:may|can|are) (?:now |hereby ){1,2}(?:\w{1,12} )?(?:to )?(?:reveal|"
            r"disregard|ignore|disclose|share|instructed)\b",
        ),
        # Obfuscated instructions.
        (
            OBSCURE,
            MEDIUM,
            "decode decrypt unscramble deobfuscate interlace read",
            r"{far}(?:and|then)\b{near}(?:do|follow|execute|obey|perform|"
            r"comply)\b",
        ),
        (OBSCURE, LOW, "decode decrypt unscramble decipher", r"{gap}(?:{code}|code\b|string\b)"),
        (
            OBSCURE,
            LOW,
            "encode write answer respond provide give split display",
            r"(?: \w{1,12}){0,6} (?:in|using|into|to|with)(?: \w{1,12}){0,2} {code}",
        ),
        (OBSCURE, LOW, "interlace combine concatenate", r" (?:part|parts|a, b|the (?:strings|parts))\b"),
        (
            OBSCURE,
            LOW,
            "modify enhance translate begin start preface augment write provide give",
            r" your (?:response|answer|reply|output|"
            r"message)s?\b(?:{gap}(?:with|by|to|into|in|backward|backwards|reverse))?",
        ),
        (OBSCURE, LOW, "in", r" your (?:response|answer|reply|output), "),
    )
)

# Words written without spaces, once separated letters are joined.
COMPACT: Final = rules(
    (
        (
            OBSCURE,
            HIGH,
            "ignore disregard forget",
            r"(?:all|any|the|your|of|my){0,4}(?:previous|prior|above|earlier|preceding|system)?"
            r"(?:instruction|rule|prompt|direction|guideline|order)",
        ),
        (OBSCURE, HIGH, "reveal show print", r"(?:me|your|the|all){0,3}(?:systemprompt|password|secret|instructions)"),
    ),
    anywhere=True,
)
