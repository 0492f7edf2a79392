"""What a team's words are known by: digests under a key that lies in no table, and says nothing in another team."""

from uuid import UUID

from django.conf import settings

from densemem.core.canonical import digest, keyed_digest


def team_key(team_id: UUID) -> bytes:
    """Return the key of a team's digests."""
    return f"{settings.CONTENT_KEY}\x1f{team_id}".encode()


def team_digest(team_id: UUID, content: object) -> str:
    """
    Return the keyed digest of a content in hex; who reads it in a table cannot test a guess of the content.

    :raises CanonicalRefused: the content has no single form
    """
    return keyed_digest(team_key(team_id), digest(content))


def seed_of(team_id: UUID) -> str:
    """Return what the ids begin with that are derived from words of the team: alone, the words do not lead to them."""
    return team_digest(team_id, "ids")
