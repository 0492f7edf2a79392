"""The scripted provider keeps the promises of all, and says what it was told."""

import itertools
import json

import pytest

from densemem.core import limits
from densemem.providers.base import Answer, Call, ProviderUnavailable, Stage, Usage
from densemem.providers.scripted import Scripted
from tests.providers.contract import NOTHING_FOUND, ProviderContract, reviewer_call


class TestScripted(ProviderContract):
    """Scripted."""

    @pytest.fixture
    def provider(self) -> Scripted:
        return Scripted(itertools.repeat(NOTHING_FOUND))

    def test_says_its_entries_in_order_and_keeps_the_calls(self) -> None:
        whole = Answer("cut", model="m", usage=Usage(1, 2), truncated=True)
        provider = Scripted(["raw", {"ü": 1}, whole])
        calls = [reviewer_call() for _ in range(3)]

        answers = [provider.complete(call) for call in calls]

        assert [answer.text for answer in answers] == ["raw", json.dumps({"ü": 1}, ensure_ascii=False), "cut"]
        assert answers[2] is whole
        assert provider.calls == calls

    def test_raises_what_the_script_raises(self) -> None:
        provider = Scripted([ProviderUnavailable("rate_limited", retry_after=2.0), "then"])

        with pytest.raises(ProviderUnavailable) as refused:
            provider.complete(reviewer_call())
        assert (refused.value.reason, refused.value.retry_after) == ("rate_limited", 2.0)
        assert provider.complete(reviewer_call()).text == "then"

    @pytest.mark.parametrize("script", [(), {}, {Stage.VERIFY: ["only the verifier"]}])
    def test_says_so_when_it_has_no_answer(self, script: object) -> None:
        with pytest.raises(ProviderUnavailable, match="no_script"):
            Scripted(script).complete(reviewer_call())

    def test_keeps_a_queue_for_each_stage(self) -> None:
        provider = Scripted({Stage.VERIFY: ["verified"], Stage.EXTRACT: ["one", "two"]})

        assert [provider.complete(reviewer_call()).text for _ in range(2)] == ["one", "two"]

    def test_asks_a_function(self) -> None:
        def answer(call: Call) -> dict[str, str]:
            return {"stage": call.stage}

        assert json.loads(Scripted(answer).complete(reviewer_call()).text) == {"stage": "extract"}

    @pytest.mark.parametrize(("entry", "reason"), [(" \n", "empty"), ("x" * (limits.ANSWER_BYTES + 1), "too_large")])
    def test_gives_no_answer_that_no_provider_may_give(self, entry: str, reason: str) -> None:
        with pytest.raises(ProviderUnavailable, match=reason):
            Scripted([entry]).complete(reviewer_call())
