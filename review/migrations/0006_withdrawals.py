"""An answer can be taken back."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('densemem', '0002_laws'),
        ('entities', '0002_laws'),
        ('evidence', '0005_retirements'),
        ('placement', '0005_uncounted_claims'),
        ('relationships', '0006_reverification'),
        ('review', '0005_owners_actions'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='decision',
            name='decision_action_is_known',
        ),
        migrations.AlterField(
            model_name='decision',
            name='action',
            field=models.CharField(choices=[('acknowledge', 'acknowledge'), ('select_entity', 'select entity'), ('confirm_new_entity', 'confirm new entity'), ('select_predicate', 'select predicate'), ('accept', 'accept'), ('correct', 'correct'), ('reject', 'reject'), ('release_quarantine', 'release quarantine'), ('forget', 'forget'), ('quarantine', 'quarantine'), ('inspect', 'inspect'), ('retry', 'retry'), ('register_predicate', 'register predicate'), ('retire_predicate', 'retire predicate'), ('adopt_evidence', 'adopt evidence'), ('correct_relationship', 'correct relationship'), ('dispute', 'dispute'), ('lift', 'lift'), ('retire_evidence', 'retire evidence'), ('reinstate_support', 'reinstate support'), ('verify_again', 'verify again'), ('do_not_compete', 'do not compete'), ('redact', 'redact'), ('withdraw', 'withdraw'), ('reopen', 'reopen')], max_length=32),
        ),
        migrations.AddConstraint(
            model_name='decision',
            constraint=models.CheckConstraint(condition=models.Q(('action__in', ['acknowledge', 'select_entity', 'confirm_new_entity', 'select_predicate', 'accept', 'correct', 'reject', 'release_quarantine', 'forget', 'quarantine', 'inspect', 'retry', 'register_predicate', 'retire_predicate', 'adopt_evidence', 'correct_relationship', 'dispute', 'lift', 'retire_evidence', 'reinstate_support', 'verify_again', 'do_not_compete', 'redact', 'withdraw', 'reopen'])), name='decision_action_is_known'),
        ),
    ]
