"""The judge: everything that a case expects is compared, and what nobody understands is a failure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from densemem.cases.judge.answers import ANSWERS
from densemem.cases.judge.forbidden import FORBIDDEN
from densemem.cases.judge.identities import IDENTITIES
from densemem.cases.judge.kept import KEPT
from densemem.cases.judge.knowledge import KNOWLEDGE
from densemem.cases.judge.models import MODELS
from densemem.cases.judge.phrases import check
from densemem.cases.judge.recalled import RECALLED
from densemem.cases.judge.seen import Seen
from densemem.cases.judge.shapes import SHAPES
from densemem.cases.judge.work import WORK
from densemem.cases.play import Done, Play
from densemem.cases.world import NotUnderstood

PHRASES: Final = (*ANSWERS, *KNOWLEDGE, *KEPT, *RECALLED, *MODELS, *WORK, *IDENTITIES, *FORBIDDEN)
NUMBERS: Final = re.compile(r"step\d+(?:_step\d+)*")
EVERY: Final = ("all", "each_step")
CONTEXT: Final = re.compile(r"after_\d+_attempts")
LATE: Final = ("later", "after", "date_values")  # these go on with the case, so everything else is judged before


def judge(play: Play) -> list[str]:
    """Return everything that is not as the case expects it; an empty list means that it passed."""
    seen = Seen(play)
    expected = sorted(play.case.expected.items(), key=lambda pair: pair[0] in LATE)
    problems = [problem for key, value in expected for problem in _judged(seen, key, value)]
    problems += [f"script: {fault}" for fault in play.script.faults]
    if not play.case.needs_llm and play.case.steps and play.script.left() and not lacking(play):
        problems.append(f"script: {play.script.left()} answers were never asked for")
    return problems


def lacking(play: Play) -> set[str]:
    """Return the operations that steps could not be taken without."""
    return {name for step in play.steps for name in step.missing}


def _judged(seen: Seen, key: str, value: Any) -> Iterator[str]:
    try:
        yield from _of_steps(seen, key, value)
    except NotUnderstood as missing:
        yield f"not understood: {key}: {missing}"


def _of_steps(seen: Seen, key: str, value: Any) -> Iterator[str]:
    """Judge an expectation of all steps, of some, or of the whole case."""
    numbers = [int(n) for n in re.findall(r"\d+", key)] if NUMBERS.fullmatch(key) else []
    if key in EVERY and _answered(seen):
        for step in _answered(seen):
            yield from (f"step {step.number}: {p}" for p in _value(seen.at(step), key, value))
    elif key == "last" and _answered(seen):
        yield from _value(seen.at(_answered(seen)[-1]), key, value)
    elif len(numbers) == 1:
        step = seen.numbered(numbers[0])
        if not step.missing:
            yield from _value(seen.at(step), key, value)
    else:
        yield from _value(seen, key, value)


def _answered(seen: Seen) -> list[Done]:
    return [step for step in seen.play.steps if step.answered is not None]


def _value(seen: Seen, key: str, value: Any) -> Iterator[str]:
    seen.play.found["key"] = key
    shape = SHAPES.get((key, type(value)))
    if shape is not None:
        yield from shape(seen, value)
    elif isinstance(value, str):
        yield from check(seen, key, value, PHRASES)
    elif key == "must_not" and isinstance(value, list):
        for said in value:
            yield from check(seen, key, str(said), PHRASES)
    elif isinstance(value, Mapping) and (NUMBERS.fullmatch(key) or CONTEXT.fullmatch(key)):
        for name, part in value.items():
            yield from _value(seen, name, part)
    else:
        yield f"not understood: {key}: {value!r}"
