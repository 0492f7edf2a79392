"""The scripted models of a case: they answer in its order, in the product's shapes, and remember every call."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final
from uuid import UUID

from densemem.audit.tables import rows
from densemem.cases.bundles import extraction, replaced
from densemem.providers.base import Answer, Call, ProviderUnavailable, Stage

Entry = Mapping[str, Any]
REASONS: Final = {429: "rate_limited", 529: "overloaded"}
CUT: Final = ("max_tokens", "length")


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of a model: the question, and what was answered; None when no whole answer came."""

    stage: str
    request: Mapping[str, Any]
    text: str
    team_id: UUID
    fragment_id: UUID
    turns: tuple[str, ...]
    answer: str | None

    @property
    def told(self) -> str:
        """The faults of the answer before, as the model is told them; empty for a first question."""
        return self.turns[-1] if len(self.turns) > 1 else ""


class Script:
    """A provider that gives the entries of a case one after the other.

    When all were given, the last ones of each stage are given again: a case tells one answer for many equal texts.

    :param find: what a placeholder stands for in a team: (placeholder, team_id)
    """

    name = "scripted"

    def __init__(self, entries: Sequence[Entry], find: Callable[[str, UUID], str]) -> None:
        self.entries = list(entries)
        self.asked: list[Asked] = []
        self.faults: list[str] = []
        self.given = 0
        self._find = find
        self._lock = Lock()
        self._last: dict[str, Entry] = {}

    def complete(self, call: Call) -> Answer:
        """Return the next answer of the case.

        :raises ProviderUnavailable: the entry is one of the transport
        """
        request = json.loads(call.turns[0].text)
        fragment = _fragment(request["evidence"][0]["evidence_id"])
        with self._lock:
            entry = self._next(call.stage)
        if entry is None and request.get("entity_mentions"):
            self.faults.append("a model was asked to verify, and the script holds no such answer")
        answer = self._answer(entry, request, fragment) if entry else Answer(json.dumps(nothing(call)), self.name)
        text = answer.text if isinstance(answer, Answer) else None
        turns = tuple(turn.text for turn in call.turns)
        content = request["evidence"][0]["content"]
        self.asked.append(Asked(call.stage.value, request, content, fragment.team_id, fragment.id, turns, text))
        if isinstance(answer, Exception):
            raise answer
        return answer

    def left(self) -> int:
        """Return how many entries nobody asked for."""
        return len(self.entries) - self.given

    def _next(self, stage: Stage) -> Entry | None:
        if self.given < len(self.entries):
            entry = self.entries[self.given]
            if entry["stage"] != stage.value:
                self.faults.append(f"a model was asked to {stage.value} where the script has {entry['stage']}")
                return self._last.get(stage.value)
            self.given += 1
            self._last[stage.value] = entry
            return entry
        return self._last.get(stage.value)

    def _answer(self, entry: Entry, request: Mapping[str, Any], fragment: Any) -> Answer | Exception:
        if entry.get("timeout"):
            return ProviderUnavailable("timeout")
        if "http_error" in entry:
            reason = REASONS.get(entry["http_error"], "server_error")
            return ProviderUnavailable(reason, retry_after=entry.get("retry_after"))
        if "raw" in entry:
            return Answer(entry["raw"], self.name, truncated=entry.get("stop_reason") in CUT)
        evidence = f"$ev{fragment.evidence_index + 1}"
        given = entry["response"]
        if entry["stage"] == Stage.EXTRACT.value:
            given = extraction(given, text=request["evidence"][0]["content"], evidence=evidence)
        here = {"$req": request["request_id"], evidence: request["evidence"][0]["evidence_id"]}
        made = replaced(given, lambda text: here.get(text) or self._find(text, fragment.team_id))
        return Answer(json.dumps(made, ensure_ascii=False), self.name, truncated=entry.get("stop_reason") in CUT)


def nothing(call: Call) -> dict[str, Any]:
    """Return the answer that there is nothing to say."""
    if call.stage is Stage.EXTRACT:
        return {"security_signals": [], "mentions": [], "values": [], "observations": []}
    asked = json.loads(call.turns[0].text)["request_id"]
    return {"request_id": asked, "security_signals": [], "entity_results": [], "relationship_results": []}


def _fragment(evidence_id: str) -> Any:
    return rows("evidence.Fragment").get(pk=UUID(evidence_id.removeprefix("ev_")))
