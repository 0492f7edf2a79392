"""Where the embedded database goes, which secrets it keeps, and who may do what with a table."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from densemem.db import place, server
from densemem.db.place import Runner, place_of
from densemem.db.roles import rights_on, split_tables
from tests.network import OutsideRefused, check

STRANGER = Runner(uid=54321, gid=54321, groups=frozenset({54321}))


class TestPlaceOf:
    def test_is_the_home_of_an_ordinary_user(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid or 1000)
        tmp = Path("/tmp/densemem-example")
        found = place_of(tmp)
        assert (found.data, found.sockets, found.moved) == (tmp / "pg", tmp / "run", False)

    def test_puts_sockets_in_a_short_folder_when_the_path_is_too_long_for_the_kernel(self) -> None:
        home = Path("/tmp") / ("long" * 30)
        found = place_of(home)
        assert len(os.fsencode(found.sockets / place.SOCKET_NAME)) < place.SOCKET_PATH_BYTES
        assert found.sockets != place_of(home / "other").sockets

    def test_leaves_a_home_that_the_servers_user_cannot_enter(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(place, "_new_runner", lambda: STRANGER)
        tmp_path.chmod(0o700)
        found = place_of(tmp_path)
        assert found.moved
        assert found.data.is_relative_to(place.SYSTEM_FOLDER)

    def test_stays_with_data_that_exists_and_its_owner(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(place, "_new_runner", lambda: STRANGER)
        (tmp_path / "pg").mkdir()
        found = place_of(tmp_path)
        assert found.data == tmp_path / "pg"
        assert found.runner.uid == os.geteuid()


class TestKeptSecret:
    def test_is_the_same_for_all_who_ask_at_once(self, tmp_path: Path) -> None:
        with ThreadPoolExecutor(8) as pool:
            found = set(pool.map(lambda _: server.kept_secret(tmp_path / "home", "app"), range(32)))
        assert len(found) == 1
        assert len(found.pop()) >= server.SECRET_BYTES

    def test_is_readable_by_its_owner_alone(self, tmp_path: Path) -> None:
        server.kept_secret(tmp_path, "app")
        assert stat.S_IMODE((tmp_path / "app.secret").stat().st_mode) == 0o600

    def test_differs_between_names(self, tmp_path: Path) -> None:
        assert server.kept_secret(tmp_path, "app") != server.kept_secret(tmp_path, "owner")


class TestDatabases:
    def test_are_the_embedded_server_under_two_roles(self, tmp_path: Path) -> None:
        found = server.databases(home=tmp_path, url="", owner_url="")
        assert found["default"]["USER"] == server.APPLICATION
        assert found["owner"]["USER"] == server.OWNER
        assert found["default"]["NAME"] == found["owner"]["NAME"]
        assert server.embedded_place(tmp_path, found["default"]) == place_of(tmp_path)

    def test_follow_the_addresses_that_are_given(self, tmp_path: Path) -> None:
        found = server.databases(home=tmp_path, url="postgres://a:x@db/m", owner_url="postgres://o:y@db/m")
        assert [entry["USER"] for entry in found.values()] == ["a", "o"]
        assert server.embedded_place(tmp_path, found["default"]) is None
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("asked", "after"), [("", 2), ("?prepare_threshold=5", 5), ("?prepare_threshold=none", None)]
    )
    def test_have_statements_prepared_unless_the_address_says_otherwise(
        self, tmp_path: Path, asked: str, after: int | None
    ) -> None:
        found = server.databases(home=tmp_path, url=f"postgres://a:x@db/m{asked}", owner_url="")
        assert {entry["OPTIONS"]["prepare_threshold"] for entry in found.values()} == {after}

    @pytest.mark.parametrize("url", ["postgresql://a:p%2Fw@db:6000/m", "postgresql://a:p%2Fw@/m?host=/run/some"])
    def test_are_written_back_as_the_address_they_came_from(self, tmp_path: Path, url: str) -> None:
        assert server.url_of(server.databases(home=tmp_path, url=url, owner_url="")["owner"]) == url


class Row:
    class _meta:  # noqa: N801
        db_table = "row"


class Step(Row):
    ledger = True

    class _meta:  # noqa: N801
        db_table = "step"


class TestRightsOn:
    @pytest.mark.parametrize(
        "name, kind, rights",
        [
            ("step", "r", ("SELECT", "INSERT")),
            ("row", "r", ("SELECT", "INSERT", "UPDATE", "DELETE")),
            ("django_migrations", "r", ("SELECT",)),
            ("row", "v", ("SELECT",)),
            ("row", "m", ("SELECT",)),
            ("step", "S", ("USAGE", "SELECT")),
        ],
    )
    def test_follow_from_what_the_relation_is(self, name: str, kind: str, rights: tuple[str, ...]) -> None:
        ledgers, editable = split_tables([Row, Step])
        assert rights_on(name, kind, ledgers=ledgers, editable=editable) == rights


class TestNetwork:
    @pytest.mark.parametrize("host", ["192.0.2.1", "example.org", "2001:db8::1", "0.0.0.0"])
    def test_is_closed(self, host: str) -> None:
        import socket

        with pytest.raises(OutsideRefused):
            socket.create_connection((host, 80), timeout=1)

    @pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", b"localhost"])
    def test_is_open_to_this_machine(self, host: str | bytes) -> None:
        import socket

        check(socket.AF_INET, (host, 80))
