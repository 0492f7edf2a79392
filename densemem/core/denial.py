"""Words that deny, in the languages of the offline reviewer. They are found, not understood: when in doubt, denied."""

from typing import Final

import regex

DENYING: Final = regex.compile(
    r"(?<!\p{L})(?:not|never|no|none|nobody|neither|nor|without|cannot|nothing)(?!\p{L})|n['’]t\b", regex.IGNORECASE
)
# Of German, French, Spanish, Russian, Arabic and Hindi, and what says of two that they are two.
_WORDS: Final = (
    r"nicht|kein\p{L}*|nie|niemals|nein|weder",
    r"pas|jamais|aucune?|non|ni",
    r"nunca|jamás|tampoco",
    r"не|нет|ни|никогда|неправда|неверно",
    r"[وف]?(?:ليس\p{L}*|لا|لم|لن|غير)",
    r"नहीं|न|मत",
    r"(?:different|distinct|separate|two|unrelated)\s+(?:people|persons?|individuals|entities|things|companies|projects)",
    r"(?:zwei|verschiedene)\s+(?:Personen|Menschen|Leute|Firmen)|(?:deux|plusieurs)\s+personnes|personnes\s+différentes",
    r"(?:dos|distintas|diferentes)\s+personas|personas\s+(?:distintas|diferentes)|разные\s+(?:люди|лица)|однофамил\p{L}*",
)
# Chinese and Japanese put no space between words.
_SIGNS: Final = (
    "不|并非|並非|绝非|絕非|没有|沒有|从未|從未|别人|別人",
    "ではない|でない|じゃない|ではなく|じゃなく|ません|違[いうっ]",
)
_ELSEWHERE: Final = regex.compile(
    rf"(?<![\p{{L}}\p{{M}}])(?:{'|'.join(_WORDS)})(?![\p{{L}}\p{{M}}])|{'|'.join(_SIGNS)}", regex.IGNORECASE
)
# A missed end costs a finding, a false one could hide a denial: a full stop after a short word or a title ends nothing.
_END: Final = regex.compile(
    r"(?:(?<=[\p{L}\p{N}]{4})(?<!\b(?i:prof|corp|bros|capt|dept|approx|sept))\.|[!?…])[\"”'’)\]]*\s+(?!\p{Ll})"
    r"|[。！？।؟]+|\n\s*\n"
)


def denies(text: str) -> bool:
    """Tell if a word that denies stands in a text."""
    return bool(DENYING.search(text) or _ELSEWHERE.search(text))


def sentences_around(text: str, start: int, end: int) -> str:
    """Return the whole sentences in which a span of a text stands."""
    ends = list(_END.finditer(text))
    begin = max((found.end() for found in ends if found.end() <= start), default=0)
    return text[begin : min((found.end() for found in ends if found.end() >= end), default=len(text))]
