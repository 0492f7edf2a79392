"""The work of placing evidence."""

import factory

from placement import models
from placement.vocabulary import ItemCategory, ItemState
from tests.factories.evidence import RECORDED, Fragment


class Run(factory.django.DjangoModelFactory):
    class Meta:
        model = models.Run
        django_get_or_create = ("team", "ingest")

    team = factory.SelfAttribute("ingest.team")
    ingest = factory.SubFactory("tests.factories.evidence.Ingest")
    recorded_at = RECORDED


class Item(factory.django.DjangoModelFactory):
    """A completed item of a fragment, with the event of its version."""

    class Meta:
        model = models.Item
        django_get_or_create = ("team", "ingest", "evidence_index")
        skip_postgeneration_save = True

    fragment = factory.SubFactory(Fragment)
    team = factory.SelfAttribute("fragment.team")
    ingest = factory.SelfAttribute("fragment.ingest")
    owner = factory.SelfAttribute("fragment.owner")
    evidence_index = factory.SelfAttribute("fragment.evidence_index")
    run = factory.SubFactory(Run, ingest=factory.SelfAttribute("..ingest"))
    state = ItemState.COMPLETED
    category = ItemCategory.PROCESSED
    available_at = RECORDED
    completed_at = RECORDED

    @factory.post_generation
    def event(self, create: bool, extracted: object, **fields: object) -> None:
        models.ItemEvent.objects.get_or_create(
            team=self.team,
            item=self,
            version=self.version,
            defaults={"state": self.state, "category": self.category, "recorded_at": RECORDED},
        )
