"""Addresses of placement under /api/v1/: what is taken in, and what people decide."""

from django.urls import path

from placement import api

urlpatterns = [
    path("ingests", api.Ingests.as_view(), name="ingests"),
    path("ingests/<str:ingest_id>", api.Ingest.as_view(), name="ingest"),
    path("ingests/<str:ingest_id>/retries", api.Retries.as_view(), name="retries"),
    path("adoptions", api.Adoptions.as_view(), name="adoptions"),
    path("identities", api.Identities.as_view(), name="identities"),
    path("identities/previews", api.IdentityPreviews.as_view(), name="identity-previews"),
    path("reviews/<str:review_id>/decisions", api.Decisions.as_view(), name="decisions"),
    path("relationships/<str:relationship_id>/retractions", api.Retractions.as_view(), name="retractions"),
    path("conflicts/<str:conflict_id>/statements", api.Statements.as_view(), name="statements"),
    path("relationships/<str:relationship_id>/corrections", api.Corrections.as_view(), name="corrections"),
    path("relationships/<str:relationship_id>/disputes", api.Disputes.as_view(), name="disputes"),
    path("relationships/<str:relationship_id>/lifts", api.Lifts.as_view(), name="lifts"),
    path("evidence/<str:fragment_id>/retirements", api.Retirements.as_view(), name="retirements"),
    path("supports/<str:support_id>/reinstatements", api.Reinstatements.as_view(), name="reinstatements"),
    path("observations/<str:observation_id>/verifications", api.Verifications.as_view(), name="verifications"),
    path("decisions/<str:decision_id>/withdrawals", api.Withdrawals.as_view(), name="withdrawals"),
    path("evidence/<str:fragment_id>/quarantines", api.Quarantines.as_view(), name="quarantines"),
    path("evidence/<str:fragment_id>/inspections", api.Inspections.as_view(), name="inspections"),
    path("identities/explanations", api.IdentityExplanations.as_view(), name="identity-explanations"),
    path("identities/<str:identity_id>", api.Identity.as_view(), name="identity"),
    path("mentions/<str:event_id>/explanation", api.MentionExplanations.as_view(), name="mention-explanation"),
    path("predicates", api.Predicates.as_view(), name="predicates"),
    path("predicates/<str:key>", api.Predicate.as_view(), name="predicate"),
    path("predicates/<str:key>/aliases", api.PredicateAliases.as_view(), name="predicate-aliases"),
    path("predicates/<str:key>/lifecycle", api.PredicateLifecycle.as_view(), name="predicate-lifecycle"),
    path("entities/<str:entity_id>/names", api.Names.as_view(), name="entity-names"),
    path("evidence/<str:fragment_id>/redactions", api.Redactions.as_view(), name="redactions"),
    path("redactions/<str:redaction_id>", api.Redaction.as_view(), name="redaction"),
]
