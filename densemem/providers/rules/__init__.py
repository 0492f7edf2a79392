"""The offline reviewer: deterministic rules that need no key and no network, and never say more than the text says."""

import json

from densemem.providers.base import Answer, Call, Stage
from densemem.providers.rules.reviewer import review
from densemem.providers.rules.verifier import verify

MODEL = "rules-1"


class Rules:
    """A provider that answers from patterns; stateless, so one instance serves all threads."""

    name = "rules"

    def complete(self, call: Call) -> Answer:
        """Answer the request in the first turn with canonical JSON.

        :raises ValueError: the first turn is not a request
        """
        request = json.loads(call.turns[0].text)
        answer = review(request) if call.stage is Stage.EXTRACT else verify(request)
        return Answer(text=json.dumps(answer, ensure_ascii=False, sort_keys=True, separators=(",", ":")), model=MODEL)
