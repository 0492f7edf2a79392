"""What every provider promises; subclass, and give `make` and `call`."""

import json
import threading

import pytest

from densemem.core import limits
from densemem.providers.base import Answer, Call, Provider, Role, Stage, Turn
from placement import contract

EVIDENCE = "Ana Ruiz works for Northwind Labs."


def extraction_request() -> dict[str, object]:
    """Return the smallest legal question to a reviewer."""
    request = {
        "request_id": "extract_1",
        "evidence": [{"evidence_id": "ev_1", "content": EVIDENCE}],
        "proposal": {"entities": [], "observations": []},
        "known_names": [],
        "entity_kinds": ["person", "organization", "other"],
        "value_types": ["text", "number"],
        "predicates": [
            {
                "key": "works_for",
                "active": ["works for"],
                "inverse": ["employs"],
                "subject_kinds": ["person"],
                "object_kinds": ["organization"],
            }
        ],
        "signals": [],
    }
    contract.check_request(request, schema=contract.EXTRACTION_REQUEST)
    return request


def reviewer_call(*, seconds_max: float = 5.0) -> Call:
    """Return the call that asks it."""
    turn = Turn(Role.USER, json.dumps(extraction_request()))
    return Call(Stage.EXTRACT, contract.prompt("reviewer"), (turn,), contract.EXTRACTION, seconds_max)


NOTHING_FOUND = json.dumps({"security_signals": [], "mentions": [], "values": [], "observations": []})


class ProviderContract:
    """Every provider must pass these."""

    @pytest.fixture
    def provider(self) -> Provider:
        """Return the provider under test, able to answer any number of calls."""
        raise NotImplementedError

    def test_is_a_provider_with_a_name(self, provider: Provider) -> None:
        assert isinstance(provider, Provider)
        assert provider.name

    def test_answers_with_raw_text_its_model_and_usage(self, provider: Provider) -> None:
        answer = provider.complete(reviewer_call())

        assert isinstance(answer, Answer)
        assert isinstance(answer.text, str) and answer.text.strip()
        assert answer.model and answer.truncated is False
        assert answer.usage.tokens_in >= 0 and answer.usage.tokens_out >= 0

    def test_answers_within_the_byte_limit(self, provider: Provider) -> None:
        assert len(provider.complete(reviewer_call()).text.encode()) <= limits.ANSWER_BYTES

    def test_gives_an_answer_that_the_contract_reads(self, provider: Provider) -> None:
        answer = provider.complete(reviewer_call())

        found = contract.read_extraction(answer.text, request=extraction_request())
        assert found.signals == ()

    def test_answers_a_conversation_with_a_refused_answer_in_it(self, provider: Provider) -> None:
        first = reviewer_call()
        faults = [contract.Fault("/mentions", "schema_required", "'mentions' is a required property")]
        turns = (*first.turns, Turn(Role.MODEL, "{}"), Turn(Role.USER, contract.correction_turn(faults)))

        answer = provider.complete(Call(first.stage, first.system, turns, first.schema, first.seconds_max))
        assert contract.read_extraction(answer.text, request=extraction_request()).signals == ()

    def test_is_shared_by_threads(self, provider: Provider) -> None:
        texts: list[str] = []
        threads = [
            threading.Thread(target=lambda: texts.append(provider.complete(reviewer_call()).text)) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)

        assert len(texts) == 8
