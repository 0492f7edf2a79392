"""Spell out the finite alternatives of a small regular expression, so that the server can register every wording."""

import itertools

import regex

_TOKEN = regex.compile(r"\\s\+|\\s\?|\(\?:|[()|]|\[[^\]]+\]|\\.|.", regex.DOTALL)


def expand(source: str) -> set[str]:
    """Return every text that matches `source`, made of literals, groups, alternatives, small classes and `?`.

    :raises ValueError: the expression repeats something and so has no finite list
    """
    tokens = _TOKEN.findall(source)
    texts, rest = _alternatives(tokens)
    if rest:
        raise ValueError(f"unbalanced wording: {source}")
    return {regex.sub(r"\s+", " ", text).strip() for text in texts}


def _alternatives(tokens: list[str]) -> tuple[set[str], list[str]]:
    """Read alternatives until a closing bracket or the end; return the texts and what is left."""
    texts: set[str] = set()
    sequence = {""}
    while tokens and tokens[0] != ")":
        if tokens[0] == "|":
            texts |= sequence
            sequence, tokens = {""}, tokens[1:]
            continue
        piece, tokens = _piece(tokens)
        sequence = {left + right for left, right in itertools.product(sequence, piece)}
    return texts | sequence, tokens


def _piece(tokens: list[str]) -> tuple[set[str], list[str]]:
    """Read one literal, class or group with an optional `?`."""
    first, rest = tokens[0], tokens[1:]
    if first in ("(", "(?:"):
        piece, rest = _alternatives(rest)
        rest = rest[1:]
    elif first == "\\s+":
        piece = {" "}
    elif first == "\\s?":
        piece = {" ", ""}
    elif first.startswith("["):
        piece = set(first[1:-1])
    elif first in ("*", "+", "{"):
        raise ValueError("a wording may not repeat")
    else:
        piece = {first[-1]}
    if rest and rest[0] == "?":
        return piece | {""}, rest[1:]
    return piece, rest
