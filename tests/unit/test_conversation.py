"""One conversation: whole answers in it, tries outside it, and the bounds on both ("Regeneration, not repair")."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from densemem.core import limits
from densemem.providers.base import Answer, ProviderUnavailable, Role, Stage, Usage
from densemem.providers.prices import read_prices
from densemem.providers.scripted import Scripted
from placement import contract, conversation
from placement.conversation import AnswersExhausted, converse
from placement.operations import CallReport
from placement.vocabulary import AttemptOutcome
from tests.answers import ACCEPTS, verification, verifier_request


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Keep the waits instead of waiting; the clock goes on by them."""
    kept: list[float] = []
    clock = SimpleNamespace(sleep=kept.append, monotonic=lambda: sum(kept))
    monkeypatch.setattr(conversation, "time", clock)
    return kept


def ask(provider: Scripted, calls: list[CallReport] | None = None) -> contract.Verification:
    """Hold the conversation of the verifier."""
    request = verifier_request()
    result, _ = converse(
        provider,
        Stage.VERIFY,
        request,
        lambda text: contract.read_verification(text, request=request, accepts=ACCEPTS),
        [] if calls is None else calls,
    )
    return result


def only(*names: str) -> dict[str, Any]:
    """Return a whole answer in which the other arrays of results are empty."""
    whole = verification()
    return {key: [] if key.endswith("_results") and key not in names else value for key, value in whole.items()}


class TestConverse:
    """conversation.converse."""

    def test_sends_every_invalid_answer_back_with_its_faults_in_the_same_conversation(self) -> None:
        provider = Scripted([only("entity_results"), "not json", verification()])

        assert ask(provider).entities.keys() == {"m1", "m2"}

        turns = provider.calls[-1].turns
        assert [turn.role for turn in turns] == [Role.USER, Role.MODEL, Role.USER, Role.MODEL, Role.USER]
        assert json.loads(turns[0].text) == verifier_request()
        assert json.loads(turns[1].text) == only("entity_results")
        assert "- /relationship_results [result_missing]" in turns[2].text
        assert turns[3].text == "not json"
        assert "one complete replacement" in turns[4].text
        assert {(call.system, id(call.schema)) for call in provider.calls} == {
            (contract.prompt("verifier"), id(contract.VERIFIER_RESPONSE))
        }

    def test_never_splices_two_halves_that_are_right_alone(self) -> None:
        halves = [only("entity_results"), only("relationship_results")] * limits.ANSWERS

        with pytest.raises(AnswersExhausted):
            ask(Scripted(halves))

    def test_takes_no_answer_that_gives_only_what_was_missing(self) -> None:
        patch = {"relationship_results": verification()["relationship_results"]}
        provider = Scripted([only("entity_results"), *[patch] * limits.ANSWERS])

        with pytest.raises(AnswersExhausted):
            ask(provider)

    def test_ends_after_the_allowed_number_of_answers(self) -> None:
        calls: list[CallReport] = []
        provider = Scripted(iter(lambda: "{}", None))

        with pytest.raises(AnswersExhausted, match="verify"):
            ask(provider, calls)
        assert [(c.number, c.outcome) for c in calls] == [
            (number, AttemptOutcome.INVALID) for number in range(1, limits.ANSWERS + 1)
        ]
        assert all(c.code == "schema_required" for c in calls)

    def test_takes_a_whole_answer_that_was_cut_at_the_output_limit_as_invalid(self) -> None:
        cut = Answer(json.dumps(verification()), model="m", truncated=True)

        assert ask(Scripted([cut, verification()]))
        with pytest.raises(AnswersExhausted):
            ask(Scripted([cut] * limits.ANSWERS))

    def test_repeats_the_same_call_while_nobody_answers(self, waits: list[float]) -> None:
        calls: list[CallReport] = []
        away = [ProviderUnavailable("timeout"), ProviderUnavailable("rate_limited", retry_after=9.0)]
        provider = Scripted(iter([*away, only(), *away, verification()]))

        ask(provider, calls)

        assert waits == [2.0, 9.0, 2.0, 9.0]
        assert [len(call.turns) for call in provider.calls] == [1, 1, 1, 3, 3, 3]
        assert [(c.number, c.outcome.value, c.code) for c in calls] == [
            (1, "provider_error", "timeout"),
            (1, "provider_error", "rate_limited"),
            (1, "invalid", "result_missing"),
            (2, "provider_error", "timeout"),
            (2, "provider_error", "rate_limited"),
            (2, "valid", ""),
        ]

    def test_ends_after_the_allowed_number_of_tries(self, waits: list[float]) -> None:
        provider = Scripted(iter(lambda: ProviderUnavailable("reset"), None))

        with pytest.raises(ProviderUnavailable, match="reset"):
            ask(provider)
        assert len(provider.calls) == limits.TRANSPORT_TRIES
        assert waits == [2.0, 4.0, 8.0, 16.0]

    def test_does_not_wait_longer_than_allowed(self, waits: list[float]) -> None:
        provider = Scripted(iter(lambda: ProviderUnavailable("rate_limited", retry_after=200.0), None))

        with pytest.raises(ProviderUnavailable) as away:
            ask(provider)
        assert waits == [200.0]
        assert away.value.retry_after == 200.0

    def test_ends_at_once_when_no_wait_can_mend_it(self, waits: list[float]) -> None:
        calls: list[CallReport] = []
        provider = Scripted(iter(lambda: ProviderUnavailable("unauthorized", lasting=True), None))

        with pytest.raises(ProviderUnavailable, match="unauthorized"):
            ask(provider, calls)
        assert (len(provider.calls), waits) == (1, [])
        assert [(c.outcome, c.code) for c in calls] == [(AttemptOutcome.UNAVAILABLE, "unauthorized")]

    def test_reports_tokens_and_their_cost(self, settings: Any) -> None:
        calls: list[CallReport] = []
        settings.MODEL_PRICES = read_prices("m-1=3/15")
        told = [Answer("{}", "m-1", Usage(1000, 200)), Answer(json.dumps(verification()), "m-2", Usage(10, 20))]

        ask(Scripted(told), calls)

        assert [(c.model, c.tokens_in, c.tokens_out, c.cost_micros) for c in calls] == [
            ("m-1", 1000, 200, 6000),
            ("m-2", 10, 20, 0),
        ]
