"""A text can be withdrawn by a decision of its owner, without a new ingest."""

import densemem.db.fields
import django.db.models.deletion
from django.db import migrations, models

PROFILE_KEY = """
ALTER TABLE evidence_fragmentretirement ADD CONSTRAINT evidence_fragmentretirement_by_profile_id_in_team
FOREIGN KEY (team_id, by_profile_id) REFERENCES densemem_profile (team_id, id) DEFERRABLE INITIALLY DEFERRED
"""


class Migration(migrations.Migration):

    dependencies = [
        ('densemem', '0002_laws'),
        ('evidence', '0004_voices'),
    ]

    operations = [
        migrations.AddField(
            model_name='fragmentretirement',
            name='by_profile',
            field=densemem.db.fields.TeamKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='densemem.profile'),
        ),
        migrations.AlterField(
            model_name='fragmentretirement',
            name='by_ingest',
            field=densemem.db.fields.TeamKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evidence.ingest'),
        ),
        migrations.AddConstraint(
            model_name='fragmentretirement',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('by_ingest__isnull', True), ('by_profile__isnull', False)), models.Q(('by_ingest__isnull', False), ('by_profile__isnull', True)), _connector='OR'), name='fragmentretirement_has_one_cause'),
        ),
        migrations.RunSQL(
            PROFILE_KEY,
            "ALTER TABLE evidence_fragmentretirement DROP CONSTRAINT IF EXISTS evidence_fragmentretirement_by_profile_id_in_team",
        ),
    ]
