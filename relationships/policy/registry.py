"""The rules of the registry of relation meanings ("Predicate Registry"; "Decisions", who decides, 25).

What a key means never changes. A new version adds a wording or changes the lifecycle, and nothing else. An active
predicate is proposed to the models; a deprecated one still takes what is said in its own words; a retired one takes
nothing new. None of it touches what was recorded before.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from densemem.core import limits
from densemem.core.faults import Because, Fault, NotThere, Refused
from densemem.core.names import fold
from relationships.policy.stored import Behaviour
from relationships.vocabulary import Cardinality, Lifecycle, RelationshipKind

LIFECYCLE: Final[Mapping[Lifecycle, frozenset[Lifecycle]]] = {
    Lifecycle.ACTIVE: frozenset({Lifecycle.DEPRECATED, Lifecycle.RETIRED}),
    Lifecycle.DEPRECATED: frozenset({Lifecycle.ACTIVE, Lifecycle.RETIRED}),
    Lifecycle.RETIRED: frozenset({Lifecycle.ACTIVE}),
}


class RegistryRefused(Refused):
    """The registry does not allow the change; the code names the rule."""

    because = Because.CONFLICT
    code = "registry_refused"


class DefinitionStale(Refused):
    """The predicate has another version than the one that was seen."""

    because = Because.STALE
    code = "version_stale"


@dataclass(frozen=True, slots=True, kw_only=True)
class PredicateView:
    """One version of a predicate; `shared` by all teams, or of one team. `wordings` is all that means it, folded."""

    key: str
    version: int
    active: tuple[str, ...]
    inverse: tuple[str, ...]
    symmetric: bool
    subject_kinds: frozenset[str]
    object_kinds: frozenset[str]
    kind: RelationshipKind
    cardinality: Cardinality
    lifecycle: Lifecycle = Lifecycle.ACTIVE
    shared: bool = False
    shelf_days: int | None = None
    example: str = ""
    wordings: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        said = (*self.said_of_subject(), *self.inverse)
        object.__setattr__(self, "wordings", frozenset(map(fold, said)))

    def said_of_subject(self) -> tuple[str, ...]:
        """Return the wordings that run from subject to object."""
        return (self.key, self.key.replace("_", " "), *self.active)

    def behaviour(self) -> Behaviour:
        """Return what a record keeps of it."""
        return Behaviour(self.key, self.version, self.kind, self.cardinality, self.symmetric)

    def accepts(self, *, subject_kind: str, object_kind: str) -> bool:
        """Tell if ends of these kinds may stand with it."""
        return subject_kind in self.subject_kinds and object_kind in self.object_kinds

    @property
    def proposed(self) -> bool:
        """Whether models and people are offered it."""
        return self.lifecycle is Lifecycle.ACTIVE

    @property
    def usable(self) -> bool:
        """Whether a new statement may have it."""
        return self.lifecycle is not Lifecycle.RETIRED

    @property
    def meaning(self) -> tuple[object, ...]:
        """What stays as it is in every version."""
        return self.key, self.symmetric, self.subject_kinds, self.object_kinds, self.kind, self.cardinality


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of the registry: the version that holds from now on, and the wordings that resolve by it, folded."""

    predicate: PredicateView
    wordings: frozenset[str] = frozenset()


Known = Mapping[str, PredicateView]
"""Every predicate that a team has or had, by key, in its newest version."""


def register(new: PredicateView, known: Known) -> Edit:
    """Add a key.

    :raises RegistryRefused: the key is taken, a wording of it means another predicate, or the team has too many
    """
    if new.key in known:
        _refuse("predicate_key_taken", "/key", "This key is registered. Take another one, or add your wording to it.")
    if sum(not view.shared for view in known.values()) >= limits.TEAM_PREDICATES:
        detail = f"A team registers at most {limits.TEAM_PREDICATES} predicates."
        raise RegistryRefused(detail, code="too_many_predicates")
    if new.symmetric and (new.subject_kinds != new.object_kinds or new.inverse):
        detail = "What holds both ways has the same kinds at both ends, and no inverse wording."
        _refuse("symmetric_ends_differ", "/symmetric", detail)
    _check_free(_places(new), new.key, known.values())
    return Edit(new, frozenset(map(fold, new.said_of_subject())))


def add_wording(key: str, wording: str, *, expected_version: int, known: Known) -> Edit:
    """Let a wording, said from subject to object, mean a key. One that means it already makes no new version.

    :raises NotThere: no such key
    :raises DefinitionStale: it has another version
    :raises RegistryRefused: it takes no wordings any more, has too many, or the wording means another predicate
    """
    before = _seen(key, expected_version, known)
    if not before.proposed:
        _refuse("predicate_not_active", "/wording", f"The predicate is {before.lifecycle}: it takes no new wording.")
    _check_free([("/wording", wording)], key, known.values())
    said = frozenset({fold(wording)})
    if said <= frozenset(map(fold, before.said_of_subject())):
        return Edit(before, said)
    if said <= before.wordings:
        _refuse("wording_is_inverse", "/wording", "The predicate has this wording from object to subject.")
    if len(before.wordings) >= limits.PREDICATE_WORDINGS:
        _refuse("too_many_wordings", "/wording", f"A predicate has at most {limits.PREDICATE_WORDINGS} wordings.")
    return Edit(_next(before, active=(*before.active, wording)), said)


def set_lifecycle(key: str, state: Lifecycle, *, expected_version: int, known: Known) -> Edit:
    """Deprecate or retire a key, or take it back into use.

    :raises NotThere: no such key
    :raises DefinitionStale: it has another version
    :raises RegistryRefused: there is no such step, or a wording of it means another predicate by now
    """
    before = _seen(key, expected_version, known)
    if state not in LIFECYCLE[before.lifecycle]:
        steps = ", ".join(sorted(LIFECYCLE[before.lifecycle]))
        _refuse("lifecycle_step_refused", "/state", f"It is {before.lifecycle}. It can become: {steps}.")
    after = _next(before, lifecycle=state)
    if state is not Lifecycle.ACTIVE:
        return Edit(after)
    if not before.usable:  # seeded predicates share some wordings: what the team gave away meanwhile is looked at
        _check_free([("/state", w) for w in sorted(before.wordings)], key, (v for v in known.values() if not v.shared))
    return Edit(after, frozenset(map(fold, after.said_of_subject())))


def check_version(before: PredicateView, after: PredicateView) -> None:
    """Refuse a version that means something else than the one before it.

    :raises RegistryRefused: its meaning differs, it lacks a wording, or it is not the next version
    """
    kept = before.meaning == after.meaning and before.wordings <= after.wordings
    if not kept or after.version != before.version + 1:
        detail = "A version keeps the meaning and every wording of the one before it. Register a new key instead."
        raise RegistryRefused(detail, code="predicate_meaning_is_fixed")


def _next(before: PredicateView, **changes: Any) -> PredicateView:
    after = replace(before, version=before.version + 1, shared=False, **changes)
    check_version(before, after)
    return after


def _seen(key: str, expected_version: int, known: Known) -> PredicateView:
    if key not in known:
        raise NotThere
    if known[key].version != expected_version:
        raise DefinitionStale(f"The predicate is at version {known[key].version} now. Look at it again, then decide.")
    return known[key]


def _places(new: PredicateView) -> list[tuple[str, str]]:
    """Return each wording of a registration with the JSON Pointer to it."""
    aliases = [(f"/aliases/{i}", wording) for i, wording in enumerate(new.active)]
    inverse = [(f"/inverse_aliases/{i}", wording) for i, wording in enumerate(new.inverse)]
    return [("/key", new.key.replace("_", " ")), *aliases, *inverse]


def _check_free(places: Iterable[tuple[str, str]], key: str, known: Iterable[PredicateView]) -> None:
    """Refuse wordings that mean another predicate.

    :param places: (JSON Pointer, wording)
    """
    others = [view for view in known if view.usable and view.key != key]
    faults = [
        Fault(place, "wording_taken", f"This wording means {view.key} already.")
        for place, wording in places
        for view in others
        if fold(wording) in view.wordings
    ]
    if faults:
        raise RegistryRefused("A wording means one predicate.", code="wording_taken", faults=faults)


def _refuse(code: str, place: str, detail: str) -> None:
    raise RegistryRefused(detail, code=code, faults=[Fault(place, code, detail)])
