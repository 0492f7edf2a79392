"""Invented notes, as many as wanted: each states one thing, among words that state nothing. A seed decides them."""

import random
from typing import Final

STATEMENT: Final = r"(Mara \w+) works on (Project \w+)\."
NOTES_OF_ONE: Final = 4  # notes that speak about the same person
SYLLABLES: Final = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu", "za")
TEXT: Final = """
after again almost autumn before bridge careful cloudy coffee colour corner counted early evening every field figure
first floor garden gentle green harbour heavy hundred inside kettle ladder later letter light listed little longer
market meeting middle minute morning narrow nearly north number older orange outside paper pencil people picture plain
pocket quiet rather river round second seldom seven shelf short simple slowly small south spring square still stone
street summer table thirty three ticket today together towards twenty under until usual warm water weather window
winter wooden yellow
"""
WORDS: Final = tuple(TEXT.split())


def note(number: int, *, seed: int) -> str:
    """Return the note of this number: some 300 characters. No two numbers of a seed give nearly the same words."""
    chance = random.Random(f"{seed}/{number}")
    person, project = name(number // NOTES_OF_ONE), name(number)
    return f"{_filler(chance)} Mara {person} works on Project {project}. {_filler(chance)} {_filler(chance)}"


def name(number: int) -> str:
    """Return an invented name; another number has another."""
    spelled: list[str] = []
    while number or len(spelled) < 3:
        number, rest = divmod(number, len(SYLLABLES))
        spelled.append(SYLLABLES[rest])
    return "".join(spelled).capitalize()


def _filler(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=13)).capitalize() + "."
