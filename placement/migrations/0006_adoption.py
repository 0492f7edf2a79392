"""Evidence of another profile, placed for who adopts it."""

import densemem.db.fields
import densemem.db.ledger
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

from densemem.db.migrate import TeamKeys


class Migration(migrations.Migration):

    dependencies = [
        ('densemem', '0002_laws'),
        ('evidence', '0003_manager_quarantine'),
        ('placement', '0005_uncounted_claims'),
    ]

    operations = [
        migrations.CreateModel(
            name='Adoption',
            fields=[
                ('id', densemem.db.fields.IdField(default=densemem.db.fields.new_id, editable=False, primary_key=True, serialize=False)),
                ('seq', densemem.db.fields.SequenceField(db_default=densemem.db.fields.NextInSequence(), editable=False, unique=True)),
                ('recorded_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('spans', django.contrib.postgres.fields.ArrayField(base_field=django.contrib.postgres.fields.ArrayField(base_field=models.PositiveIntegerField(), size=2), size=None)),
                ('fragment', densemem.db.fields.TeamKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evidence.fragment')),
                ('item', densemem.db.fields.TeamOneKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='adoption', to='placement.item')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='densemem.team')),
            ],
            options={
                'abstract': False,
                'constraints': [models.UniqueConstraint(fields=('team', 'id'), name='adoption_in_team')],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='adoption',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=densemem.db.ledger.UnconditionalSql(func="RAISE EXCEPTION 'history is append-only: % on % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';", hash='a59e4b8908c57b811d64714388fc57e911b09bb7', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_02e73', table='placement_adoption', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='adoption',
            trigger=pgtrigger.compiler.Trigger(name='no_truncate', sql=densemem.db.ledger.UnconditionalSql(func="RAISE EXCEPTION 'history is append-only: % on % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';", hash='8f19127be09c3ca4aeb198fd29c43e1e6c399082', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_no_truncate_9e5df', table='placement_adoption', when='BEFORE')),
        ),
        TeamKeys("adoption"),
    ]
