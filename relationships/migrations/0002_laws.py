"""Laws that Django's own operations cannot say."""

import json
from pathlib import Path

from django.db import migrations

from densemem.db.migrate import TeamKeys

EDGES = """
CREATE VIEW semantic_edges WITH (security_invoker = true) AS
SELECT id AS relationship_id, team_id, owner_id, subject_entity_id, predicate_key, object_entity_id, object_value_id,
       polarity, tier, scope_key, valid_from, valid_to, support_count, source_group_count, version
FROM relationships_relationshiprecord
WHERE status = 'active' AND tier IN ('validated_claim', 'fact')
"""


def seed(apps, schema_editor):
    """Register the seeded predicates, version 1, shared by every team."""
    definition = apps.get_model("relationships", "PredicateDefinition")
    rows = json.loads((Path(__file__).parent.parent / "predicates.json").read_text(encoding="utf-8"))
    definition.objects.using(schema_editor.connection.alias).bulk_create(
        definition(team=None, version=1, lifecycle="active", **row) for row in rows
    )


class Migration(migrations.Migration):
    dependencies = [("relationships", "0001_initial")]

    operations = [
        TeamKeys("observation", "observationspan", "observationresolution", "verificationevent", "relationshiprecord", "evidencesupport", "supportdecision", "transition", "crossreference", "lineage", "searchdocument"),
        migrations.RunSQL(EDGES, "DROP VIEW semantic_edges"),
        migrations.RunPython(seed, migrations.RunPython.noop),
    ]
