"""The decisions of owners and managers that nobody asked for."""

import densemem.db.fields
import django.db.models.deletion
from django.db import migrations, models


SUPPORT_KEY = """
ALTER TABLE review_decision ADD CONSTRAINT review_decision_support_id_in_team FOREIGN KEY (team_id, support_id)
REFERENCES relationships_evidencesupport (team_id, id) DEFERRABLE INITIALLY DEFERRED
"""


class Migration(migrations.Migration):

    dependencies = [
        ('densemem', '0002_laws'),
        ('entities', '0002_laws'),
        ('evidence', '0003_manager_quarantine'),
        ('placement', '0005_uncounted_claims'),
        ('relationships', '0002_laws'),
        ('review', '0004_decision_laws'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='decision',
            name='decision_action_is_known',
        ),
        migrations.AddField(
            model_name='decision',
            name='support',
            field=densemem.db.fields.TeamKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='relationships.evidencesupport'),
        ),
        migrations.AlterField(
            model_name='decision',
            name='action',
            field=models.CharField(choices=[('acknowledge', 'acknowledge'), ('select_entity', 'select entity'), ('confirm_new_entity', 'confirm new entity'), ('select_predicate', 'select predicate'), ('accept', 'accept'), ('correct', 'correct'), ('reject', 'reject'), ('release_quarantine', 'release quarantine'), ('forget', 'forget'), ('quarantine', 'quarantine'), ('inspect', 'inspect'), ('retry', 'retry'), ('register_predicate', 'register predicate'), ('retire_predicate', 'retire predicate'), ('adopt_evidence', 'adopt evidence'), ('correct_relationship', 'correct relationship'), ('dispute', 'dispute'), ('lift', 'lift'), ('retire_evidence', 'retire evidence'), ('reinstate_support', 'reinstate support'), ('verify_again', 'verify again'), ('do_not_compete', 'do not compete'), ('redact', 'redact')], max_length=32),
        ),
        migrations.AlterField(
            model_name='decision',
            name='operation',
            field=models.CharField(max_length=32),
        ),
        migrations.AddConstraint(
            model_name='decision',
            constraint=models.CheckConstraint(condition=models.Q(('action__in', ['acknowledge', 'select_entity', 'confirm_new_entity', 'select_predicate', 'accept', 'correct', 'reject', 'release_quarantine', 'forget', 'quarantine', 'inspect', 'retry', 'register_predicate', 'retire_predicate', 'adopt_evidence', 'correct_relationship', 'dispute', 'lift', 'retire_evidence', 'reinstate_support', 'verify_again', 'do_not_compete', 'redact'])), name='decision_action_is_known'),
        ),
        migrations.RunSQL(
            SUPPORT_KEY, "ALTER TABLE review_decision DROP CONSTRAINT IF EXISTS review_decision_support_id_in_team"
        ),
    ]
