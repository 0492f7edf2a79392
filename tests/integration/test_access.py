"""Who may come in: the operations and the commands."""

import json
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone
from rest_framework.exceptions import AuthenticationFailed

from densemem import access
from densemem.auth import USED_EVERY, principal_of, principal_of_bearer, profiles_of_login
from densemem.core.faults import NotThere, Refused
from densemem.core.words import Role, Scope
from densemem.models import AccessToken, Membership, Profile, Team
from tests.console_rows import PASSWORD, agent, person, team

pytestmark = pytest.mark.django_db


def ids(profile: Profile) -> dict[str, UUID]:
    return {"team_id": profile.team_id, "profile_id": profile.id}


def run(command: str, *words: str) -> str:
    out = StringIO()
    call_command(command, *words, stdout=out)
    return out.getvalue()


def run_json(command: str, *words: str) -> Any:
    return json.loads(run(command, *words, "--json"))


class TestCreateTeam:
    def test_makes_a_team_once(self) -> None:
        first, again = access.create_team(name="Lumen"), access.create_team(name=" Lumen ")

        assert (first.made, again.made, again.team_id) == (True, False, first.team_id)

    @pytest.mark.parametrize("name", ["", "   ", "a\u202eb", "a\nb", "x" * 200])
    def test_refuses_a_name_that_cannot_be_read(self, name: str) -> None:
        with pytest.raises(Refused, match="A name has"):
            access.create_team(name=name)


class TestCreatePerson:
    def test_makes_a_login_with_a_password_that_is_told_once(self) -> None:
        lumen = team()

        made = access.create_person(team_id=lumen.id, name="Mara", login="mara")
        again = access.create_person(team_id=lumen.id, name="Mara", login="mara")

        assert authenticate(username="mara", password=made.password) is not None
        assert (again.profile_id, again.made, again.password) == (made.profile_id, False, None)

    def test_gives_a_login_that_exists_a_second_profile_and_no_new_password(self) -> None:
        person(team(), "Mara")

        made = access.create_person(team_id=team("Second").id, name="Mara", login="mara", password="another one")

        assert (made.made, made.password) == (True, None)
        assert authenticate(username="mara", password=PASSWORD) is not None

    def test_refuses_a_name_that_belongs_to_another_login(self) -> None:
        mara = person(team(), "Mara")

        with pytest.raises(access.NameTaken):
            access.create_person(team_id=mara.team_id, name="Mara", login="somebody")


class TestCreateAgent:
    def test_has_a_steward_and_no_login(self) -> None:
        mara = person(team(), "Mara")

        scribe = agent(mara, "scribe")

        assert (scribe.steward, scribe.user) == (mara, None)

    def test_refuses_a_steward_of_another_team(self) -> None:
        stranger = person(team("Other"), "Stranger")

        with pytest.raises(access.StewardUnfit):
            access.create_agent(team_id=team().id, name="scribe", steward_id=stranger.id)

    def test_refuses_an_agent_as_steward(self) -> None:
        scribe = agent(person(team(), "Mara"), "scribe")

        with pytest.raises(access.StewardUnfit):
            access.create_agent(team_id=scribe.team_id, name="second", steward_id=scribe.id)

    def test_refuses_the_name_of_a_person(self) -> None:
        mara = person(team(), "Mara")

        with pytest.raises(access.NameTaken):
            access.create_agent(team_id=mara.team_id, name="Mara", steward_id=mara.id)


class TestSetMembership:
    def test_replaces_role_scopes_and_grants(self) -> None:
        mara = person(team(), "Mara")
        powers = access.Powers(role=Role.MANAGER, scopes=[Scope.READ], grants=["manual"])

        access.set_membership(**ids(mara), powers=powers)

        kept = Membership.objects.get(profile=mara)
        assert (kept.role, kept.scopes, kept.authority_grants) == ("manager", ["read"], ["manual"])

    def test_leaves_a_team_its_last_manager(self) -> None:
        mara = person(team(), "Mara", role=Role.MANAGER)
        person(team(), "Teo")

        with pytest.raises(access.LastManager):
            access.set_membership(**ids(mara), powers=access.Powers())
        with pytest.raises(access.LastManager):
            access.deactivate_profile(**ids(mara), now=timezone.now())

    def test_does_not_see_into_another_team(self) -> None:
        mara = person(team(), "Mara")

        with pytest.raises(NotThere):
            access.set_membership(team_id=team("Other").id, profile_id=mara.id, powers=access.Powers())


class TestCreateToken:
    def test_opens_the_door_for_its_profile_with_its_scopes(self) -> None:
        mara = person(team(), "Mara")

        token = access.create_token(**ids(mara), label="laptop", scopes=[Scope.READ], days=7)

        _, principal = principal_of_bearer(token.secret)
        assert (principal.profile_id, principal.scopes) == (mara.id, {Scope.READ})
        assert token.expires_at is not None
        assert timedelta(days=6) < token.expires_at - timezone.now() < timedelta(days=8)

    def test_keeps_no_secret(self) -> None:
        token = access.create_token(**ids(person(team(), "Mara")), label="laptop")

        row = AccessToken.objects.values().get()
        assert token.secret not in str(row)

    def test_of_an_agent_belongs_to_its_stewards_login(self) -> None:
        mara = person(team(), "Mara")
        scribe = agent(mara, "scribe")

        token = access.create_token(**ids(scribe), label="mcp")

        user, principal = principal_of_bearer(token.secret)
        assert (user, principal.profile_id) == (mara.user, scribe.id)

    def test_of_an_agent_ends_with_its_steward(self) -> None:
        mara = person(team(), "Mara")
        scribe = agent(mara, "scribe")
        token = access.create_token(**ids(scribe), label="mcp")

        Profile.objects.filter(pk=mara.pk).update(deactivated_at="2025-01-01T00:00:00Z")

        with pytest.raises(AuthenticationFailed):
            principal_of_bearer(token.secret)
        with pytest.raises(access.NotActive):
            access.create_token(**ids(scribe), label="mcp")
        assert profiles_of_login(mara.user) == []

    def test_refuses_more_than_the_profile_may(self) -> None:
        mara = person(team(), "Mara")
        access.set_membership(**ids(mara), powers=access.Powers(scopes=[Scope.READ]))

        with pytest.raises(access.ScopeBeyondProfile):
            access.create_token(**ids(mara), label="", scopes=[Scope.WRITE])


class TestBearer:
    def test_says_what_its_holder_may_do_and_no_more_than_the_token_may(self, django_assert_num_queries: Any) -> None:
        mara = person(team(), "Mara", role=Role.MANAGER)
        powers = access.Powers(role=Role.MANAGER, scopes=[Scope.READ, Scope.WRITE], grants=["manual"])
        access.set_membership(**ids(mara), powers=powers)
        token = access.create_token(**ids(mara), label="laptop", scopes=[Scope.READ])
        principal_of_bearer(token.secret)

        with django_assert_num_queries(1):
            user, principal = principal_of_bearer(token.secret)
            assert (user.pk, user.is_active) == (mara.user_id, True)

        may = Profile.objects.get(pk=mara.pk)
        assert replace(principal, scopes=frozenset(Scope)) == principal_of(may)
        assert (principal.scopes, principal.authority_grants) == ({Scope.READ}, {"manual"})

    def test_loses_what_the_membership_loses(self) -> None:
        mara = person(team(), "Mara")
        token = access.create_token(**ids(mara), label="laptop")

        access.set_membership(**ids(mara), powers=access.Powers(scopes=[Scope.READ]))

        assert principal_of_bearer(token.secret)[1].scopes == {Scope.READ}

    def test_opens_nothing_once_it_has_expired_or_its_login_is_shut(self) -> None:
        mara = person(team(), "Mara")
        old = access.create_token(**ids(mara), label="old", days=1)
        open_ended = access.create_token(**ids(mara), label="laptop")

        AccessToken.objects.filter(token_key=old.key).update(expiry=timezone.now())
        with pytest.raises(AuthenticationFailed, match="Invalid"):
            principal_of_bearer(old.secret)
        User.objects.filter(pk=mara.user_id).update(is_active=False)
        with pytest.raises(AuthenticationFailed, match="Invalid"):
            principal_of_bearer(open_ended.secret)

    def test_opens_nothing_without_a_membership(self) -> None:
        mara = person(team(), "Mara")
        token = access.create_token(**ids(mara), label="laptop")

        Membership.objects.filter(profile=mara).delete()

        with pytest.raises(AuthenticationFailed, match="not active"):
            principal_of_bearer(token.secret)

    def test_takes_no_secret_that_only_begins_like_one(self) -> None:
        token = access.create_token(**ids(person(team(), "Mara")), label="laptop")

        with pytest.raises(AuthenticationFailed, match="Invalid"):
            principal_of_bearer(token.secret[:-1] + ("0" if token.secret[-1] != "0" else "1"))

    def test_notes_its_use_every_few_minutes(self) -> None:
        token = access.create_token(**ids(person(team(), "Mara")), label="laptop")
        row = AccessToken.objects.filter(token_key=token.key)
        recent, long_ago = timezone.now() - USED_EVERY / 2, timezone.now() - USED_EVERY * 2

        row.update(last_used_at=recent)
        principal_of_bearer(token.secret)
        assert row.get().last_used_at == recent

        for before in (None, long_ago):
            row.update(last_used_at=before)
            principal_of_bearer(token.secret)
            assert row.get().last_used_at > recent


class TestRevokeToken:
    def test_closes_the_door(self) -> None:
        mara = person(team(), "Mara")
        token = access.create_token(**ids(mara), label="laptop")

        access.revoke_token(team_id=mara.team_id, key=token.key)

        with pytest.raises(AuthenticationFailed):
            principal_of_bearer(token.secret)

    def test_does_not_reach_into_another_team(self) -> None:
        token = access.create_token(**ids(person(team(), "Mara")), label="laptop")

        with pytest.raises(NotThere):
            access.revoke_token(team_id=team("Other").id, key=token.key)

    def test_refuses_a_key_that_nobody_has(self) -> None:
        with pytest.raises(NotThere):
            access.revoke_token(team_id=uuid4(), key="dm_none")


class TestDeactivateProfile:
    def test_ends_its_tokens_and_keeps_its_row(self) -> None:
        mara = person(team(), "Mara")
        token = access.create_token(**ids(mara), label="laptop")

        access.deactivate_profile(**ids(mara), now=timezone.now())

        with pytest.raises(AuthenticationFailed):
            principal_of_bearer(token.secret)
        with pytest.raises(access.NotActive):
            access.create_token(**ids(mara), label="laptop")
        assert Profile.objects.get(pk=mara.pk).deactivated_at is not None


class TestCommands:
    def test_build_a_team_from_nothing(self) -> None:
        made = run_json("create_team", "Lumen")
        mara = run_json("create_profile", "Lumen", "Mara", "--person", "--login", "mara", "--role", "manager")
        scribe = run_json(
            "create_profile", "Lumen", "scribe", "--agent", "--steward", "Mara", "--scopes", "read", "--grant", "manual"
        )
        token = run_json("create_token", "Lumen", "scribe", "--label", "mcp", "--scopes", "read", "--days", "30")

        assert Team.objects.get().id == UUID(made["team_id"])
        assert authenticate(username="mara", password=mara["password"]) is not None
        assert Membership.objects.get(profile_id=mara["profile_id"]).role == "manager"
        assert Membership.objects.get(profile_id=scribe["profile_id"]).authority_grants == ["manual"]
        assert principal_of_bearer(token["token"])[1].profile_id == UUID(scribe["profile_id"])

    def test_can_be_repeated(self) -> None:
        words = ("Lumen", "Mara", "--person", "--login", "mara")
        run("create_team", "Lumen")
        run("create_profile", *words)

        assert run_json("create_team", "Lumen")["made"] is False
        assert run_json("create_profile", *words)["made"] is False
        assert "There already" in run("create_profile", *words)

    def test_take_a_password_from_standard_input_and_do_not_print_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        run("create_team", "Lumen")
        monkeypatch.setattr("sys.stdin", StringIO(f"{PASSWORD}\n"))

        printed = run("create_profile", "Lumen", "Mara", "--person", "--login", "mara", "--password-from-stdin")

        assert PASSWORD not in printed
        assert authenticate(username="mara", password=PASSWORD) is not None

    @pytest.mark.parametrize(
        ("command", "words", "said"),
        [
            ("create_profile", ("Nowhere", "Mara", "--person", "--login", "mara"), "no such"),
            ("create_profile", ("Lumen", "Mara", "--person"), "--login"),
            ("create_profile", ("Lumen", "scribe", "--agent"), "--steward"),
            ("create_profile", ("Lumen", "Mara", "--person", "--login", "m", "--scopes", "all"), "scopes"),
            ("create_profile", ("Lumen", "Mara"), "--person"),
            ("create_token", ("Lumen", "Nobody"), "no such"),
            ("create_token", ("Lumen", "Teo", "--days", "0"), "--days"),
        ],
    )
    def test_say_what_is_wrong(self, command: str, words: tuple[str, ...], said: str) -> None:
        person(team(), "Teo")

        with pytest.raises(CommandError, match=said):
            run(command, *words)

    def test_print_the_token_alone_so_that_a_script_can_keep_it(self) -> None:
        person(team(), "Teo")

        printed = run("create_token", "Lumen", "Teo").strip()

        assert principal_of_bearer(printed)[1].profile_name == "Teo"
