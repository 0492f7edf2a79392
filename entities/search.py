"""Entities whose names are only like the name of a mention: proposed, with the reason, and never chosen by it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final
from uuid import UUID

from django.conf import settings

from densemem.core import limits
from densemem.core.canonical import keyed_numbers
from densemem.db.read import fetch
from entities.policy import Form, asked_forms
from entities.queries import CandidateView
from entities.vocabulary import CandidateReason, EntityKind

ORDER: Final = tuple(CandidateReason)
# Of each form and kind the oldest: enough for a mention, as whoever bears its very name is no proposal.
LIKE: Final = """
    WITH met AS (
      SELECT DISTINCT form, entity.id, entity.kind, entity.identity_context::text AS context
      FROM entities_name AS name CROSS JOIN unnest(name.forms) AS form
      JOIN entities_entity AS entity ON entity.id = name.entity_id
      WHERE name.team_id = %(team)s AND name.forms && %(forms)s::bigint[] AND form = ANY(%(forms)s::bigint[])
        AND entity.status = 'active' AND NOT starts_with(name.key, 'REDACTED:')
    ), ranked AS (
      SELECT *, row_number() OVER (PARTITION BY form, kind ORDER BY id) AS place FROM met
    )
    SELECT ranked.form, ranked.id, coalesce(canonical.display, ''), ranked.kind, ranked.context
    FROM ranked LEFT JOIN LATERAL (
      SELECT display FROM entities_name AS name
      WHERE (name.team_id, name.entity_id, name.kind) = (%(team)s, ranked.id, 'canonical')
      ORDER BY starts_with(name.key, 'REDACTED:'), version DESC LIMIT 1
    ) AS canonical ON true
    WHERE place <= %(most)s ORDER BY ranked.id"""


def hashed(team_id: UUID, forms: Iterable[Form]) -> dict[Form, int]:
    """Return the keyed hash of each form; those of one team mean nothing in another."""
    key = f"{settings.CONTENT_KEY}\x1fnames\x1f{team_id}".encode()
    return {form: next(iter(keyed_numbers(key, [f"{form.reason}\x1f{form.text}"]))) for form in forms}


def proposed(*, team_id: UUID, mentions: Mapping[str, tuple[str, EntityKind]]) -> dict[str, tuple[CandidateView, ...]]:
    """Return, by ref, the active entities whose names are like that of a mention, in the order of their reasons.

    One statement, however many mentions there are.

    :param mentions: by ref, the surface and the kind; only an Entity of this kind, or of an unknown one, is proposed
    """
    asked = {ref: hashed(team_id, asked_forms(name, kind)) for ref, (name, kind) in mentions.items()}
    forms = sorted({number for numbers in asked.values() for number in numbers.values()})
    rows = fetch(LIKE, team=team_id, forms=forms, most=limits.CANDIDATES) if forms else []
    met: dict[int, list[CandidateView]] = {}
    for form, entity, name, kind, context in rows:
        met.setdefault(form, []).append(CandidateView(entity, name, EntityKind(kind), json.loads(context)))
    return {ref: _of_mention(numbers, mentions[ref][1], met) for ref, numbers in asked.items()}


def _of_mention(
    asked: Mapping[Form, int], kind: EntityKind, met: Mapping[int, list[CandidateView]]
) -> tuple[CandidateView, ...]:
    found: dict[UUID, CandidateView] = {}
    for form in sorted(asked, key=lambda f: ORDER.index(f.reason)):
        for view in met.get(asked[form], ()):
            if view.kind is kind or EntityKind.OTHER in (view.kind, kind):
                found.setdefault(view.entity_id, replace(view, reason=form.reason))
    return tuple(found.values())[: limits.PROPOSALS]
