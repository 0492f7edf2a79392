"""The world of a case: its teams and people, their registry, the things they know by name, and what was said before."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from django.apps import apps
from django.contrib.auth.models import User
from django.utils import timezone

from densemem.access import Powers, create_person, create_team, create_token, revoke_token
from densemem.audit.tables import rows
from densemem.auth import Principal, principal_of
from densemem.cases.bundles import VALUE_TYPES
from densemem.cases.files import Fixtures
from densemem.cases.script import nothing
from densemem.cases.worker import work
from densemem.core.ids import uuid7
from densemem.core.names import lookup_key
from densemem.core.words import Role, Scope
from densemem.models import Profile
from densemem.providers.scripted import Scripted
from entities.operations import create_entities
from entities.plan import NewEntity, NewName, Origin
from entities.vocabulary import EntityKind, NameKind
from placement.remember import remember

REGISTRAR: Final = "registrar"
MEMBER: Final = re.compile(r"(?P<name>[\w-]+) \((?P<powers>[\w+ ]+)\)")


class NotUnderstood(Exception):
    """A part of a case that says something for which there is no reading yet."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who acts in a case."""

    team: str
    name: str
    who: Principal
    token: str
    token_key: str


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody of the fixtures, who may act."""

    team: str
    name: str
    powers: Powers


@dataclass(frozen=True, slots=True)
class Thing:
    """An entity of a case under its short name."""

    key: str
    kind: str
    name: str
    aliases: tuple[str, ...] = ()


class World:
    """Everybody and everything that a case names."""

    def __init__(self, fixtures: Fixtures) -> None:
        self.fixtures = fixtures
        self.teams: dict[str, UUID] = {}
        self.members: dict[str, Member] = {}
        self.people: dict[str, Person] = {}
        self.things: dict[str, Thing] = {}
        self.entities: dict[tuple[UUID, str], UUID] = {}
        for team, members in fixtures.teams.items():
            self.teams[team] = create_team(name=team).team_id
            self._register(self.teams[team])
            for said in members:
                member = _member(team, said)
                self.members[member.name] = member

    def person(self, name: str) -> Person:
        """Return who acts under this name.

        :raises NotUnderstood: the fixtures have nobody of this name
        """
        if name not in self.members:
            raise NotUnderstood(f"the profile {name!r} is not in the fixtures")
        if name not in self.people:
            member = self.members[name]
            who = _person(self.teams[member.team], member.team, name, member.powers)
            self.people[name] = _with_token(Person(member.team, name, who, "", ""))
        return self.people[name]

    def rotate_token(self, name: str) -> None:
        """Give somebody a new token in place of the one that it has."""
        old = self.people[name]
        revoke_token(team_id=old.who.team_id, key=old.token_key)
        self.people[name] = _with_token(old)

    def thing(self, wanted: str | Mapping[str, Any]) -> Thing:
        """Return a thing by its short name in the fixtures, or as a case describes it.

        :raises NotUnderstood: there is none
        """
        if isinstance(wanted, Mapping):
            kept = Thing(wanted["key"], wanted["kind"], wanted["name"], tuple(wanted.get("aliases", ())))
            return self.things.setdefault(kept.key, kept)
        if wanted in self.things:
            return self.things[wanted]
        if wanted not in self.fixtures.entities:
            raise NotUnderstood(f"the entity {wanted!r} is not in the fixtures")
        kind, name, aliases = self.fixtures.entities[wanted]
        return self.things.setdefault(wanted, Thing(wanted, kind, name, tuple(aliases)))

    def make_known(self, team: str, wanted: Iterable[str | Mapping[str, Any]]) -> None:
        """Let a team know these things by their names."""
        things = list({thing.key: thing for thing in map(self.thing, wanted)}.values())
        team_id = self.teams[team]
        things = [thing for thing in things if (team_id, thing.key) not in self.entities]
        if not things:
            return
        text = "; ".join(name for thing in things for name in (thing.name, *thing.aliases))
        origin = self._note(team_id, text)
        made = {thing.key: uuid7() for thing in things}
        names = [new for thing in things for new in _names(thing, made[thing.key], text)]
        kinds = [NewEntity(made[thing.key], EntityKind(thing.kind)) for thing in things]
        create_entities(origin=origin, entities=kinds, names=names, now=timezone.now())
        self.entities.update({(team_id, key): entity for key, entity in made.items()})

    def of_kind(self, kind: str) -> list[str]:
        """Return the short names of the fixtures of a kind."""
        return [key for key, (of, *_) in self.fixtures.entities.items() if of == kind]

    def writers(self, team: str) -> list[str]:
        """Return who of a team may write."""
        return [m.name for m in self.members.values() if m.team == team and Scope.WRITE in m.powers.scopes]

    def entity_id(self, team_id: UUID, key: str) -> UUID:
        """Return the id of a thing in a team; `team:key` or `team/key` names another team.

        :raises NotUnderstood: the team does not know it
        """
        team, _, rest = re.sub(r"[./]", ":", key, count=1).partition(":")
        if rest and team in self.teams:
            team_id, key = self.teams[team], rest
        if (team_id, key) not in self.entities:
            raise NotUnderstood(f"the entity {key!r} is not known to the team")
        return self.entities[team_id, key]

    def wording(self, predicate: str) -> str:
        """Return words that say a predicate."""
        if predicate not in self.fixtures.predicates:
            raise NotUnderstood(f"the predicate {predicate!r} is not in the fixtures")
        found: str = self.fixtures.predicates[predicate]["aliases"][0]
        return found

    def value_type(self, predicate: str) -> str:
        """Return the type of value that a predicate takes."""
        kinds = [
            k.removeprefix("value:") for k in self.fixtures.predicates[predicate]["object"] if k.startswith("value:")
        ]
        if not kinds:
            raise NotUnderstood(f"the predicate {predicate!r} takes no value")
        return VALUE_TYPES.get(kinds[0], kinds[0])

    def _register(self, team_id: UUID) -> None:
        """Give a team the predicates of the fixtures, each as a newer version of the shared one where there is one."""
        shared = rows("relationships.PredicateDefinition").filter(team__isnull=True)
        versions = dict(shared.order_by("seq").values_list("key", "version"))
        now = timezone.now()
        model = apps.get_model("relationships", "PredicateDefinition")
        model._default_manager.bulk_create(
            model(
                team_id=team_id,
                key=key,
                version=versions.get(key, 0) + 1,
                active=list(given["aliases"]),
                subject_kinds=list(given["subject"]),
                object_kinds=[_object_kind(kind) for kind in given["object"]],
                kind=given["kind"],
                cardinality=given["cardinality"],
                recorded_at=now,
            )
            for key, given in self.fixtures.predicates.items()
        )

    def _note(self, team_id: UUID, text: str) -> Origin:
        """Remember where names were read, as somebody who owns nothing else."""
        who = _person(team_id, str(team_id), REGISTRAR, Powers())
        body = {"evidence": [{"content": text, "source_type": "document"}]}
        done = remember(principal=who, body=body, idempotency_key=uuid7().hex, now=timezone.now())
        work(Scripted(nothing))
        item = rows("placement.Item").get(ingest_id=done.ingest_id)
        return Origin(team_id, who.profile_id, done.ingest_id, item.fragment_id, item.id, item.version)


def _member(team: str, said: str) -> Member:
    found = MEMBER.fullmatch(said)
    words = set(re.split(r"[+ ]+", found["powers"])) if found else {""}
    if found is None or words - {"read", "write", "manager"}:
        raise NotUnderstood(f"the member {said!r} of the fixtures; write 'name (read)' or 'name (manager+write)'")
    scopes = (Scope.READ, Scope.WRITE) if "write" in words else (Scope.READ,)
    role = Role.MANAGER if "manager" in words else Role.MEMBER
    return Member(team, found["name"], Powers(role=role, scopes=scopes))


def _person(team_id: UUID, team: str, name: str, powers: Powers) -> Principal:
    login = f"{team}-{name}"
    User.objects.get_or_create(username=login)  # without a password, which would take long to hash
    made = create_person(team_id=team_id, name=name, login=login, powers=powers)
    found = principal_of(Profile.objects.get(pk=made.profile_id))
    assert found is not None
    return found


def _with_token(person: Person) -> Person:
    who = person.who
    issued = create_token(team_id=who.team_id, profile_id=who.profile_id, label="case", scopes=sorted(who.scopes))
    return replace(person, token=issued.secret, token_key=issued.key)


def _object_kind(kind: str) -> str:
    plain = kind.removeprefix("value:")
    return VALUE_TYPES.get(plain, plain)


def _names(thing: Thing, entity_id: UUID, text: str) -> Sequence[NewName]:
    kinds = [(thing.name, NameKind.CANONICAL), *((alias, NameKind.ALIAS) for alias in thing.aliases)]
    found = [(name, kind, text.index(name)) for name, kind in kinds]
    return [NewName(entity_id, kind, name, lookup_key(name), at, at + len(name)) for name, kind, at in found]
