"""A provider that says what it was told to say: demos and tests run the real pipeline with known answers."""

import json
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any

from densemem.core import limits
from densemem.providers.base import Answer, Call, ProviderUnavailable, Stage

Entry = str | Mapping[str, Any] | Answer | Exception
"""Raw text, a mapping that is written as JSON, a whole answer, or an exception to raise."""

Script = Iterable[Entry] | Mapping[Stage, Iterable[Entry]] | Callable[[Call], Entry]
"""The answers in order, in order for each stage, or a function from the call to its answer."""


class Scripted:
    """Answers from a script and keeps every call it got in `calls`; a list may be extended by giving an iterator."""

    name = "scripted"

    def __init__(self, script: Script = ()) -> None:
        """Take the script; nothing is read from it before it is asked for."""
        self.calls: list[Call] = []
        self._lock = Lock()
        self._next = script if callable(script) else _reader(script)

    def complete(self, call: Call) -> Answer:
        """Return the next answer of the script.

        :raises ProviderUnavailable: `no_script` when the script has no more; `empty` or `too_large` as any provider;
            or what the script itself raises
        """
        with self._lock:  # a shared iterator must not be advanced by two threads at once
            self.calls.append(call)
            entry = self._next(call)
        if isinstance(entry, Exception):
            raise entry
        return _whole(entry if isinstance(entry, Answer) else Answer(text=_text(entry), model=self.name))


def _reader(script: Iterable[Entry] | Mapping[Stage, Iterable[Entry]]) -> Callable[[Call], Entry]:
    """Return a function that takes the next entry, of the call's stage where the script has stages."""
    queues = {stage: iter(entries) for stage, entries in script.items()} if isinstance(script, Mapping) else {}
    common = iter(()) if isinstance(script, Mapping) else iter(script)

    def take(call: Call) -> Entry:
        return next(queues.get(call.stage, common), ProviderUnavailable("no_script"))

    return take


def _text(entry: str | Mapping[str, Any]) -> str:
    """Return the raw text of an entry."""
    return entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False)


def _whole(answer: Answer) -> Answer:
    """Return the answer if it is one that any provider may give."""
    if not answer.text.strip():
        raise ProviderUnavailable("empty")
    if len(answer.text.encode("utf-8", "surrogatepass")) > limits.ANSWER_BYTES:
        raise ProviderUnavailable("too_large")
    return answer
