"""The way of the sample: each paper is remembered and placed before the next one arrives."""

from collections.abc import Callable, Mapping
from datetime import datetime

from densemem.auth import Principal
from densemem.core.limits import DEMO_SECONDS
from densemem.demo.corpus import Corpus, Document
from densemem.providers.rules import Rules
from placement.remember import remember
from placement.tasks import drain

Step = Callable[[Document], None]


def send(*, corpus: Corpus, principals: Mapping[str, Principal], now: Callable[[], datetime], step: Step) -> int:
    """
    Send every paper as its author and place it; return how many of them were new.

    The keys follow from the corpus, so a second run adds nothing. A revision comes after the one that it continues
    was placed: what it takes away must have been known. The offline reviewer reads the papers, whatever the settings
    name: the sample costs nothing and always ends the same.

    :param principals: by the profile's ref in the corpus
    :param step: called before each paper
    """
    fresh, reviewer = 0, Rules()
    for document in corpus.documents:
        step(document)
        accepted = remember(
            principal=principals[document.by],
            body=document.body,
            idempotency_key=f"sample:{document.key}",
            now=now(),
        )
        fresh += not accepted.replayed
        drain(seconds=DEMO_SECONDS, using=reviewer)
    return fresh
