"""Facts of a database and what the check says of them."""

import dataclasses
from typing import Any

import pytest

from densemem.checks import Facts, judge, parse_version, unreachable

SOUND = Facts(
    server_version=18,
    extensions={"vector": "0.8.6", "pg_trgm": "1.6", "unaccent": "1.1", "btree_gist": "1.8", "plpgsql": "1.0"},
    application="app",
    owner="owner",
    superuser=False,
    owned_tables=(),
)


def without(name: str) -> dict[str, str]:
    return {known: version for known, version in SOUND.extensions.items() if known != name}


class TestJudge:
    def test_says_nothing_of_a_sound_database(self) -> None:
        assert judge(SOUND) == []

    @pytest.mark.parametrize(
        "change, code, mend",
        [
            ({"server_version": 15}, "densemem.E002", "Upgrade the server"),
            ({"extensions": without("vector")}, "densemem.E003", "CREATE EXTENSION vector;"),
            ({"extensions": without("pg_trgm")}, "densemem.E003", "CREATE EXTENSION pg_trgm;"),
            ({"extensions": without("unaccent")}, "densemem.E003", "CREATE EXTENSION unaccent;"),
            ({"extensions": without("btree_gist")}, "densemem.E003", "CREATE EXTENSION btree_gist;"),
            ({"extensions": SOUND.extensions | {"vector": "0.7.4"}}, "densemem.E004", "ALTER EXTENSION vector UPDATE;"),
            ({"superuser": None}, "densemem.E005", "CREATE ROLE app LOGIN"),
            ({"superuser": True}, "densemem.E006", "ALTER ROLE app NOSUPERUSER;"),
            ({"owner": "app"}, "densemem.W001", "DATABASE_OWNER_URL"),
            ({"owned_tables": ("public.fragment",)}, "densemem.E007", "ALTER TABLE public.fragment OWNER TO owner;"),
        ],
    )
    def test_names_the_fault_and_what_mends_it(self, change: dict[str, Any], code: str, mend: str) -> None:
        (found,) = judge(dataclasses.replace(SOUND, **change))
        assert found.id == code
        assert found.hint is not None
        assert mend in found.hint

    def test_names_every_fault_at_once(self) -> None:
        worst = dataclasses.replace(SOUND, server_version=14, extensions={}, superuser=True, owned_tables=("public.x",))
        assert len(judge(worst)) == 7


class TestUnreachable:
    @pytest.mark.parametrize("embedded, mend", [(True, "python manage.py db start"), (False, "DATABASE_URL")])
    def test_says_what_to_do(self, embedded: bool, mend: str) -> None:
        found = unreachable("no such file\n", embedded=embedded)
        assert found.hint is not None
        assert mend in found.hint
        assert "no such file" in found.msg


class TestParseVersion:
    @pytest.mark.parametrize("text, parts", [("0.8.6", (0, 8, 6)), ("0.10", (0, 10)), ("0.8.dev", (0, 8)), ("1", (1,))])
    def test_reads_the_leading_numbers(self, text: str, parts: tuple[int, ...]) -> None:
        assert parse_version(text) == parts
