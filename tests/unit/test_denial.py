"""Words that deny are found in the languages of the offline reviewer, in the whole sentences around a span."""

import pytest

from densemem.core.denial import denies, sentences_around

DENIALS = [
    "Mark is not Mark Huang.",
    "Mark isn't Mark Huang.",
    "Mark isn’t Mark Huang.",
    "Mark was never called Mark Huang.",
    "No, Mark is Mark Huang.",
    "Neither Mark nor Mark Huang came.",
    "Mark and Mark Huang are different people.",
    "Mark ist nicht Mark Huang.",
    "Mark ist kein Huang.",
    "Mark und Mark Huang sind zwei Personen.",
    "Mark n'est pas Mark Huang.",
    "Mark no es Mark Huang.",
    "Mark nunca fue Mark Huang.",
    "Марк — не Марк Хуан.",
    "Марк и Марк Хуан — разные люди.",
    "مارك ليس مارك هوانغ.",
    "मार्क, मार्क हुआंग नहीं हैं।",
    "马克不是黄马克。",
    "馬克並非黃馬克。",
    "マークはマーク・ホアンではない。",
    "マークはマーク・ホアンではありません。",
]
REPORTS = [
    "Mark is Mark Huang.",
    "Mark Huang, known as Mark, notes the knot of Norway.",
    "M. Lind is another name of Mara Lind.",
    "Mark ist Mark Huang, Niels kennt ihn.",
    "Mark est Mark Huang, née Orne.",
    "Mark es Mark Huang, de Nogales.",
    "Марк — это Марк Хуан, он небольшой.",
    "مارك هو مارك هوانغ.",
    "मार्क ही मार्क हुआंग हैं।",
    "马克就是黄马克。",
    "マークはマーク・ホアンです。",
]


@pytest.mark.parametrize("text", DENIALS)
def test_a_word_of_denial_is_found(text: str) -> None:
    assert denies(text)


@pytest.mark.parametrize("text", REPORTS)
def test_what_only_looks_like_one_is_none(text: str) -> None:
    assert not denies(text)


@pytest.mark.parametrize(
    ("text", "around"),
    [
        ("It is not true that <Mark is Mark Huang>.", "It is not true that Mark is Mark Huang."),
        ("It is not so that Prof. <M. Huang is Mark> at all.", "It is not so that Prof. M. Huang is Mark at all."),
        ("She did not come. <Mark is Mark Huang.> He never left.", "Mark is Mark Huang. "),
        ("She did not come. <Mark is Mark Huang>. He never left.", "Mark is Mark Huang. "),
        ("It is not true that\n<Mark is Mark Huang>.", "It is not true that\nMark is Mark Huang."),
        ("Not me!\n\n<Mark is Mark Huang>\n\nNever.", "Mark is Mark Huang\n\n"),
        ("她不来。<马克就是黄马克>。", "马克就是黄马克。"),
        ("Is he <Mark? He is> not.", "Is he Mark? He is not."),
    ],
)
def test_whole_sentences_are_looked_at_and_those_beside_are_not(text: str, around: str) -> None:
    plain, start = text.replace("<", "").replace(">", ""), text.index("<")

    assert sentences_around(plain, start, text.index(">") - 1) == around
