"""Remember over REST: what a client sends, what it gets back, and what is refused."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError
from django.test import Client

from densemem.auth import Principal
from densemem.models import AccessToken, Membership, Profile, Team
from evidence.models import Content, Fragment, Ingest
from placement.api import ingests as api
from placement.models import Item
from placement.tasks import drain
from tests.said import Fact, model, send, someone

TEXT = "Mara Lind works on Harbor."
WORKS = Fact("Mara Lind", "works on", "Harbor", "works_on")


def token_of(who: Principal) -> str:
    """Return a fresh bearer token."""
    profile = Profile.objects.get(pk=who.profile_id)
    _, secret = AccessToken.objects.create(user=profile.user, profile=profile, scopes=["read", "write"])
    return secret


def post(who: Principal | None, body: Any, *, key: str | None = None, **headers: str) -> Any:
    """Send a remember request."""
    headers |= {"Idempotency-Key": uuid4().hex if key is None else key}
    headers |= {"Authorization": f"Bearer {token_of(who)}"} if who else {}
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Client().post("/api/v1/ingests", raw, content_type="application/json", headers=headers)


def get(who: Principal, path: str) -> Any:
    """Read as somebody."""
    return Client().get(path, headers={"Authorization": f"Bearer {token_of(who)}"})


def evidence(content: str = TEXT, **fields: Any) -> dict[str, Any]:
    """Return one evidence item."""
    return {"content": content, "source_type": "document", **fields}


def proposal(**change: Any) -> dict[str, Any]:
    """Return a proposal about the sample text, with one relationship changed."""
    relationship = {
        "proposal_id": "p1",
        "subject_ref": "m",
        "predicate": "works on",
        "object_ref": "h",
        "evidence": [{"evidence_index": 0, "start": 0, "end": 26}],
        **change,
    }
    relationship = {k: v for k, v in relationship.items() if v is not None}
    entities = [{"ref": "m", "name": "Mara Lind"}, {"ref": "h", "name": "Harbor"}]
    return {"entities": entities, "relationships": [relationship]}


class TestRemember:
    def test_answers_202_with_the_place_to_ask_again(self, ada: Principal) -> None:
        response = post(ada, {"evidence": [evidence()]})

        body = response.json()
        assert response.status_code == 202
        assert response["Location"] == f"/api/v1/ingests/{body['ingest_id']}"
        assert response["Retry-After"] == "1"
        assert (body["processing_state"], body["check_after_seconds"]) == ("queued", 1)
        assert get(ada, response["Location"]).json()["items"][0]["state"] == "queued"

    def test_shows_states_outcomes_and_reasons_once_placed(self, ada: Principal) -> None:
        location = post(ada, {"evidence": [evidence()]})["Location"]
        drain(using=model(WORKS), linger=False)

        body = get(ada, location).json()

        (outcome,) = body["items"][0]["outcomes"]
        assert (body["processing_state"], body["next_action"]) == ("completed", "Nothing to do.")
        assert (outcome["outcome"], outcome["tier"], outcome["relationship_status"]) == (
            "relationship_validated_claim",
            "validated_claim",
            "active",
        )

    def test_waits_for_the_result_when_the_client_prefers_it(self, ada: Principal, monkeypatch: Any) -> None:
        looked = []
        monkeypatch.setattr(api.time, "sleep", lambda _: looked.append(drain(using=model(WORKS), linger=False)))

        response = post(ada, {"evidence": [evidence()]}, Prefer="wait=5")

        assert response.json()["processing_state"] == "completed"
        assert looked == [1]

    def test_answers_a_retry_with_the_earlier_intake(self, ada: Principal) -> None:
        first = post(ada, {"evidence": [evidence()]}, key="k")
        again = post(ada, {"evidence": [evidence()]}, key="k")

        assert again["Idempotency-Replayed"] == "true"
        assert again.json()["ingest_id"] == first.json()["ingest_id"]
        assert Ingest.objects.count() == 1

    def test_the_same_key_of_another_profile_is_another_request(self, ada: Principal, bo: Principal) -> None:
        post(ada, {"evidence": [evidence()]}, key="k")

        assert post(bo, {"evidence": [evidence("Other.")]}, key="k").status_code == 202


BAD = [
    ("no-body", b"", 422, "invalid_request", ("", "missing_field")),
    ("not-json", b"{", 400, "malformed_json", None),
    ("twice-named", b'{"evidence": [], "evidence": []}', 400, "malformed_json", None),
    ("nan", b'{"evidence": NaN}', 400, "malformed_json", None),
    ("deep", b"[" * 100_000, 400, "malformed_json", None),
    ("too-large", b'{"a": "' + b"x" * 1_100_000 + b'"}', 413, "body_too_large", None),
    ("a-list", [], 422, "invalid_request", ("", "wrong_type")),
    ("no-evidence", {}, 422, "invalid_request", ("", "missing_field")),
    ("empty-evidence", {"evidence": []}, 422, "invalid_request", ("/evidence", "broken_minItems")),
    ("unknown-field", {"evidence": [evidence(colour="red")]}, 422, "invalid_request", ("/evidence/0", "unknown_field")),
    ("server-field", {"evidence": [evidence(tier="fact")]}, 422, "invalid_request", ("/evidence/0", "field_is_set_by_server")),
    ("foreign-owner", {"evidence": [evidence()], "team_id": "x"}, 422, "invalid_request", ("", "field_is_set_by_server")),
    ("blank", {"evidence": [evidence(" \u200b\n")]}, 422, "invalid_request", ("/evidence/0/content", "text_is_blank")),
    ("nul", {"evidence": [evidence(), evidence("a\0b")]}, 422, "invalid_request", ("/evidence/1/content", "bad_character")),
    ("surrogate", {"evidence": [evidence("a\ud800b")]}, 422, "invalid_request", ("/evidence/0/content", "bad_character")),
    ("oversized", {"evidence": [evidence("x" * 20_001)]}, 422, "invalid_request", ("/evidence/0/content", "broken_maxLength")),
    ("too-many", {"evidence": [evidence()] * 21}, 422, "invalid_request", ("/evidence", "broken_maxItems")),
    ("no-offset", {"evidence": [evidence(observed_at="2025-01-01T00:00:00")]}, 422, "invalid_request",
     ("/evidence/0/observed_at", "time_without_offset")),
    ("half-a-source", {"evidence": [evidence(source_key="k")]}, 422, "invalid_request",
     ("/evidence/0", "source_fields_incomplete")),
    ("two-revisions", {"evidence": [evidence(source_key="k", source_revision="1"),
                                    evidence(source_key="k", source_revision="2")]}, 422, "invalid_request",
     ("/evidence/1/source_revision", "source_fields_differ")),
    ("span-off", {"evidence": [evidence()], "proposal": proposal(evidence=[{"evidence_index": 0, "start": 0, "end": 99}])},
     422, "invalid_request", ("/proposal/relationships/0/evidence/0", "span_out_of_bounds")),
    ("span-inside-grapheme", {"evidence": [evidence("e\u0301 is here for a longer text.")],
                              "proposal": proposal(evidence=[{"evidence_index": 0, "start": 1, "end": 5}])},
     422, "invalid_request", ("/proposal/relationships/0/evidence/0", "span_splits_grapheme")),
    ("wrong-surface", {"evidence": [evidence()], "proposal": proposal(
        evidence=[{"evidence_index": 0, "start": 0, "end": 4, "surface": "Mora"}])},
     422, "invalid_request", ("/proposal/relationships/0/evidence/0/surface", "span_surface_mismatch")),
    ("unknown-evidence", {"evidence": [evidence()], "proposal": proposal(evidence=[{"evidence_index": 3, "start": 0, "end": 4}])},
     422, "invalid_request", ("/proposal/relationships/0/evidence/0/evidence_index", "unknown_evidence")),
    ("float-offset", {"evidence": [evidence()], "proposal": proposal(evidence=[{"evidence_index": 0, "start": 0.0, "end": 4}])},
     422, "invalid_request", ("/proposal/relationships/0/evidence/0/start", "wrong_type")),
    ("surrogate-name", b'{"evidence": [], "\\ud800": 1}', 422, "invalid_request", ("", "bad_character")),
    ("unknown-ref", {"evidence": [evidence()], "proposal": proposal(object_ref="zz")}, 422, "invalid_request",
     ("/proposal/relationships/0/object_ref", "unknown_ref")),
    ("no-object", {"evidence": [evidence()], "proposal": proposal(object_ref=None)}, 422, "invalid_request",
     ("/proposal/relationships/0", "one_object_form")),
    ("two-objects", {"evidence": [evidence()], "proposal": proposal(object_value={"type": "text", "value": "x"})},
     422, "invalid_request", ("/proposal/relationships/0", "one_object_form")),
    ("bad-value", {"evidence": [evidence()], "proposal": proposal(object_ref=None, object_value={"type": "date", "value": "soon"})},
     422, "invalid_request", ("/proposal/relationships/0/object_value", "date_malformed")),
    ("free-scope", {"evidence": [evidence()], "proposal": proposal(scope="in staging")}, 422, "invalid_request",
     ("/proposal/relationships/0/scope", "scope_unknown")),
    ("empty-window", {"evidence": [evidence()], "proposal": proposal(valid_from="2025-02-01", valid_to="2025-01-01")},
     422, "invalid_request", ("/proposal/relationships/0/valid_to", "window_is_empty")),
    ("ref-twice", {"evidence": [evidence()], "proposal": {"entities": [{"ref": "m", "name": "A"}, {"ref": "m", "name": "B"}]}},
     422, "invalid_request", ("/proposal/entities/1/ref", "duplicate_ref")),
    ("unseen-origin", {"evidence": [evidence(derived_from_fragment_ids=["00000000-0000-7000-8000-000000000000"])]},
     404, "fragment_not_found", ("/evidence/derived_from_fragment_ids", "not_found")),
]  # fmt: skip


class TestRefusal:
    @pytest.mark.parametrize(("body", "status", "code", "place"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
    def test_is_one_problem_that_names_the_place_and_stores_nothing(
        self, ada: Principal, body: Any, status: int, code: str, place: tuple[str, str] | None
    ) -> None:
        response = post(ada, body)

        problem = response.json()
        assert response["Content-Type"] == "application/problem+json"
        assert (response.status_code, problem["code"]) == (status, code)
        if place:
            assert place in {(e["pointer"], e["code"]) for e in problem["errors"]}
        assert problem["request_id"] == response["X-Request-ID"]
        assert not (Ingest.objects.exists() or Fragment.objects.exists() or Content.objects.exists())

    def test_never_repeats_the_evidence(self, ada: Principal) -> None:
        response = post(ada, {"evidence": [evidence("SECRET-PHRASE\0")], "extra": "SECRET-PHRASE"})

        assert "SECRET-PHRASE" not in response.content.decode()

    def test_of_a_reused_key_names_the_mend(self, ada: Principal) -> None:
        post(ada, {"evidence": [evidence()]}, key="k")
        response = post(ada, {"evidence": [evidence("Something else.")]}, key="k")

        assert (response.status_code, response.json()["code"]) == (422, "idempotency_key_reused")
        assert Ingest.objects.count() == 1

    def test_of_a_missing_key(self, ada: Principal) -> None:
        assert post(ada, {"evidence": [evidence()]}, key="").json()["code"] == "idempotency_key_missing"

    def test_without_a_token_is_401(self, db: None) -> None:
        response = post(None, {"evidence": [evidence()]})

        assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")

    @pytest.mark.parametrize("token", ["dm_wrong", "", "näh", "dm_" + "0" * 61])
    def test_with_a_wrong_token_is_401(self, db: None, token: str) -> None:
        response = Client().get(
            "/api/v1/ingests/x", headers={"Authorization": f"Bearer {token}".encode().decode("latin-1")}
        )

        assert response.status_code == 401

    def test_of_a_reader_is_403(self, team: Team) -> None:
        response = post(someone(team, "Rex", scopes="read"), {"evidence": [evidence()]})

        assert (response.status_code, response.json()["code"]) == (403, "scope_missing")

    def test_of_a_deactivated_profile_is_401(self, ada: Principal, django_user_model: Any) -> None:
        secret = token_of(ada)
        Profile.objects.filter(pk=ada.profile_id).update(deactivated_at="2025-01-01T00:00:00Z")

        response = Client().get("/api/v1/ingests/x", headers={"Authorization": f"Bearer {secret}"})

        assert response.status_code == 401

    def test_of_authority_without_a_grant_is_not_downgraded(self, ada: Principal) -> None:
        response = post(ada, {"evidence": [evidence(authority="authoritative")]})

        assert (response.status_code, response.json()["code"]) == (403, "authority_not_granted")
        assert not Ingest.objects.exists()

    def test_stops_where_a_token_has_less_than_its_profile(self, ada: Principal) -> None:
        profile = Profile.objects.get(pk=ada.profile_id)
        _, secret = AccessToken.objects.create(user=profile.user, profile=profile, scopes=["read"])

        response = Client().post(
            "/api/v1/ingests",
            json.dumps({"evidence": [evidence()]}),
            content_type="application/json",
            headers={"Authorization": f"Bearer {secret}", "Idempotency-Key": "k"},
        )

        assert response.status_code == 403


class TestIngestOfOthers:
    @pytest.mark.parametrize("number", ["nonsense", "00000000-0000-7000-8000-000000000000", "{foreign}"])
    def test_is_not_found_in_the_same_words(self, ada: Principal, stranger: Principal, number: str) -> None:
        foreign = send(stranger, TEXT)

        response = get(ada, f"/api/v1/ingests/{number.format(foreign=foreign)}")

        assert response.status_code == 404
        assert response.json()["detail"] == "There is no such thing in your team."


class TestAuthority:
    def test_with_a_grant_makes_a_fact_of_one_text(self, team: Team) -> None:
        boss = someone(team, "Ruiz", grants=["document"])
        location = post(boss, {"evidence": [evidence(authority="authoritative")]})["Location"]
        drain(using=model(WORKS), linger=False)

        (outcome,) = get(boss, location).json()["items"][0]["outcomes"]
        assert (outcome["outcome"], outcome["reason"]) == ("relationship_fact", "authorized_user")


class TestLostDatabase:
    def test_is_503_with_a_time_to_try_again(self, ada: Principal, monkeypatch: Any) -> None:
        def fail(**_: Any) -> None:
            raise OperationalError("gone")

        monkeypatch.setattr(api, "remember", fail)
        response = post(ada, {"evidence": [evidence()]})

        assert (response.status_code, response["Retry-After"]) == (503, "2")
        assert response.json()["code"] == "database_unavailable"


class TestFault:
    def test_of_our_own_is_a_500_problem_without_its_text(self, ada: Principal, monkeypatch: Any, caplog: Any) -> None:
        def fail(**_: Any) -> None:
            raise ValueError(secret_phrase)

        secret_phrase = "-".join(["SECRET", "PHRASE"])  # the log shows lines of code
        monkeypatch.setattr(api, "remember", fail)
        profile = Profile.objects.get(pk=ada.profile_id)
        _, secret = AccessToken.objects.create(user=profile.user, profile=profile, scopes=["write"])
        client = Client(raise_request_exception=False)

        response = client.post(
            "/api/v1/ingests", b"{}", content_type="application/json", headers={"Authorization": f"Bearer {secret}"}
        )

        assert (response.status_code, response.json()["code"]) == (500, "internal_error")
        assert secret_phrase not in response.content.decode() + caplog.text


def test_a_membership_is_what_lets_a_profile_in(ada: Principal) -> None:
    secret = token_of(ada)
    Membership.objects.filter(profile_id=ada.profile_id).delete()

    response = Client().get("/api/v1/ingests/x", headers={"Authorization": f"Bearer {secret}"})

    assert response.status_code == 401
    assert not Item.objects.exists()
