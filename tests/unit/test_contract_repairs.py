"""What the server must never do to an answer: each repair that the page forbids meets a refusal of the whole.

"Strict Verifier Contract", regeneration, not repair.
"""

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from placement.contract import AnswerRefused
from tests.answers import changed, extraction, faults, read, verification, verify

Place = tuple[str | int, ...]
Reader = Callable[[Any], object]
WHOLE: list[tuple[dict[str, Any], Reader]] = [(extraction(), read), (verification(), verify)]


def places_of(data: Any, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield every place of an answer with what stands there."""
    yield path, data
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inner:
        yield from places_of(value, (*path, key))


def with_change(answer: Any, path: Place, change: Callable[[Any, Any], object]) -> Any:
    """Return a copy of an answer in which `change` was done to (the holder, the key) of one place."""
    copied = copy.deepcopy(answer)
    holder = copied
    for part in path[:-1]:
        holder = holder[part]
    change(holder, path[-1])
    return copied


def keys(answer: Any) -> list[Place]:
    """Return the place of every key of every object."""
    return [path for path, _ in places_of(answer) if path and isinstance(path[-1], str)]


def spoiled() -> Iterator[Any]:
    """Yield an answer, its reader and one mistyped value for every place: what a lenient reader would coerce."""
    for answer, reader in WHOLE:
        for path, value in places_of(answer):
            for wrong in _mistyped(value):
                if path:
                    name = "/".join(map(str, path))
                    changed_ = with_change(answer, path, lambda holder, key, w=wrong: holder.__setitem__(key, w))
                    yield pytest.param(changed_, reader, id=f"{name}={json.dumps(wrong)[:20]}")


def _mistyped(value: Any) -> list[Any]:
    match value:
        case bool():
            return [str(value).lower(), int(value), [value]]
        case int() | float():
            return [str(value), [value], {"value": value}]
        case str():
            return [[value], {"value": value}, 1]
        case list():
            return [dict(enumerate(value)), json.dumps(value), None]
        case dict():
            return [[value], json.dumps(value), None]
    return [[], 0.5]


def shaped(change: Callable[[Any, Any], object], *, at: Callable[[Any], list[Place]]) -> list[Any]:
    """Return one spoiled answer with its reader for every place."""
    return [
        pytest.param(with_change(answer, path, change), reader, id="/".join(map(str, path)))
        for answer, reader in WHOLE
        for path in at(answer)
    ]


def renamed(holder: Any, key: Any) -> None:
    """Write a key as another convention would."""
    words = key.split("_")
    holder["".join([words[0], *(word.title() for word in words[1:])]) if len(words) > 1 else key.title()] = holder.pop(
        key
    )


def objects(answer: Any) -> list[Place]:
    """Return a place in every object, where another key may be added."""
    return [(*path, "note") for path, value in places_of(answer) if isinstance(value, dict)]


def results(answer: Any) -> list[Place]:
    """Return the place of every result of the verifier."""
    return [path for path, _ in places_of(answer) if len(path) == 2 and str(path[0]).endswith("_results")]


class TestForbiddenRepairs:
    """Nothing of a faulty answer is used; the unspoiled ones of this page are accepted."""

    @pytest.mark.parametrize(("answer", "reader"), WHOLE, ids=["extraction", "verification"])
    def test_are_not_needed_by_a_whole_answer(self, answer: Any, reader: Reader) -> None:
        assert reader(answer)

    @pytest.mark.parametrize(("answer", "reader"), list(spoiled()))
    def test_no_value_is_coerced(self, answer: Any, reader: Reader) -> None:
        assert faults(lambda: reader(answer))

    @pytest.mark.parametrize(("answer", "reader"), shaped(renamed, at=keys))
    def test_no_field_is_renamed(self, answer: Any, reader: Reader) -> None:
        assert faults(lambda: reader(answer))

    @pytest.mark.parametrize(("answer", "reader"), shaped(lambda holder, key: holder.__setitem__(key, "x"), at=objects))
    def test_no_unknown_field_is_ignored(self, answer: Any, reader: Reader) -> None:
        assert {code for _, code in faults(lambda: reader(answer))} == {"schema_additionalProperties"}

    @pytest.mark.parametrize(("answer", "reader"), shaped(lambda holder, key: holder.pop(key), at=keys))
    def test_no_missing_field_gets_a_default(self, answer: Any, reader: Reader) -> None:
        assert "schema_required" in {code for _, code in faults(lambda: reader(answer))}

    @pytest.mark.parametrize(("answer", "reader"), shaped(lambda holder, key: holder.pop(key), at=results))
    def test_no_missing_result_gets_a_default(self, answer: Any, reader: Reader) -> None:
        assert "result_missing" in {code for _, code in faults(lambda: reader(answer))}

    @pytest.mark.parametrize("words", ["Reuse", "reuse ", "REUSE", "re-use", "", "reuse|create"])
    def test_no_word_is_bent_to_a_known_one(self, words: str) -> None:
        assert faults(lambda: verify(changed(verification(), "/entity_results/0/action", words)))

    @pytest.mark.parametrize("key", ["Leads", "leads ", "lead", "leads_to", "is_leading", "unasked", "count"])
    def test_no_predicate_is_invented_or_replaced_by_the_closest(self, key: str) -> None:
        answer = changed(verification(), "/relationship_results/0/predicate_key", key)

        assert faults(lambda: verify(answer)) == [("/relationship_results/0/predicate_key", "predicate_not_offered")]

    @pytest.mark.parametrize("entity", ["e2", "E1", " e1", "e1 ", "Ana", "e10"])
    def test_no_id_is_replaced_by_the_closest(self, entity: str) -> None:
        answer = changed(verification(), "/entity_results/0/candidate_entity_id", entity)

        assert ("/entity_results/0/candidate_entity_id", "candidate_not_offered") in faults(lambda: verify(answer))

    @pytest.mark.parametrize("quote", ["ana leads harbor.", "Ana leads Harbor", "Ana leads Harbour.", "“Ana leads”"])
    def test_no_quote_is_bent_to_the_evidence(self, quote: str) -> None:
        answer = changed(extraction(), "/observations/0/quotes/0/quote", quote)
        if quote == "Ana leads Harbor":
            assert read(answer).observations[0].spans == ((0, 16),)  # exact, so nothing is added to it either
        else:
            assert ("/observations/0/quotes/0/quote", "quote_not_found") in faults(lambda: read(answer))

    def test_no_entity_result_survives_a_fault_of_a_relationship_result(self) -> None:
        answer = changed(verification(), "/relationship_results/1/confidence", "high")

        with pytest.raises(AnswerRefused) as refused:
            verify(answer)
        assert vars(refused.value).keys() == {"faults"}  # all that a caller gets
