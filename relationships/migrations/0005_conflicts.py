"""Conflicts that last. The challenges that are there already open their cases."""

from itertools import chain

import densemem.db.fields
import densemem.db.ledger
import django.db.models.deletion
import django.db.models.functions.datetime
import pgtrigger.compiler
import pgtrigger.migrations
import relationships.vocabulary
from django.db import migrations, models

from densemem.db.migrate import TeamKeys
from relationships.policy.conflicts import Holder, decide_cases


def open_cases(apps, schema_editor):
    """Open the case of every challenge and correction, as if it had been appended just now."""
    tables = {name: apps.get_model("relationships", name) for name in (
        "CrossReference", "RelationshipRecord", "ConflictCase", "ConflictPosition", "ConflictEvent"
    )}
    rows = {name: table.objects.using(schema_editor.connection.alias) for name, table in tables.items()}
    ends = ("team_id", "source_relationship__semantic_group_key", "target_relationship__semantic_group_key")
    against = rows["CrossReference"].filter(kind__in=["challenges", "corrects"]).order_by("seq")
    links = {}
    for team, one, other, at in against.values_list(*ends, "recorded_at"):
        links.setdefault(team, {}).setdefault((one, other), at)
    for team, since in links.items():
        groups = set(chain.from_iterable(since))
        active = rows["RelationshipRecord"].filter(team_id=team, status="active", semantic_group_key__in=groups)
        holders = [Holder(*row, 1, 1) for row in active.values_list("id", "owner_id", "semantic_group_key")]
        for course in decide_cases([], list(since), holders):
            _write(rows, team, course.steps, since)


def _write(rows, team, steps, since):
    at = min(at for (one, _), at in since.items() if one in steps[0].positions)
    last = steps[-1]
    case = rows["ConflictCase"].create(
        team_id=team, status=last.status, reason=last.reason, version=len(steps), opened_at=at,
        closed_at=at if last.status == "closed" else None,
    )
    for version, step in enumerate(steps, start=1):
        of = {"team_id": team, "case": case, "version": version, "recorded_at": at}
        rows["ConflictEvent"].create(**of, kind=step.kind, status=step.status, reason=step.reason)
        for group in step.positions:
            rows["ConflictPosition"].create(**of, semantic_group_key=group)


class Migration(migrations.Migration):

    dependencies = [
        ('densemem', '0002_laws'),
        ('relationships', '0004_registry'),
        ('review', '0005_owners_actions'),
    ]

    operations = [
        migrations.CreateModel(
            name='ConflictCase',
            fields=[
                ('id', densemem.db.fields.IdField(default=densemem.db.fields.new_id, editable=False, primary_key=True, serialize=False)),
                ('status', models.CharField(choices=[('open', 'open'), ('closed', 'closed')], max_length=32)),
                ('reason', models.CharField(choices=[('positions_compete', 'positions compete'), ('conflicts_connected', 'conflicts connected'), ('owner_says_not_competing', 'owner says not competing'), ('one_position_left', 'one position left'), ('owners_say_not_competing', 'owners say not competing')], max_length=32)),
                ('version', models.PositiveIntegerField()),
                ('opened_at', models.DateTimeField()),
                ('closed_at', models.DateTimeField(null=True)),
                ('merged_into', densemem.db.fields.TeamKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='relationships.conflictcase')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='densemem.team')),
            ],
        ),
        migrations.CreateModel(
            name='ConflictEvent',
            fields=[
                ('id', densemem.db.fields.IdField(default=densemem.db.fields.new_id, editable=False, primary_key=True, serialize=False)),
                ('seq', densemem.db.fields.SequenceField(db_default=densemem.db.fields.NextInSequence(), editable=False, unique=True)),
                ('recorded_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('version', models.PositiveIntegerField()),
                ('kind', models.CharField(choices=[('opened', 'opened'), ('position_added', 'position added'), ('merged', 'merged'), ('statement', 'statement'), ('closed', 'closed'), ('reopened', 'reopened')], max_length=32)),
                ('status', models.CharField(choices=[('open', 'open'), ('closed', 'closed')], max_length=32)),
                ('reason', models.CharField(choices=[('positions_compete', 'positions compete'), ('conflicts_connected', 'conflicts connected'), ('owner_says_not_competing', 'owner says not competing'), ('one_position_left', 'one position left'), ('owners_say_not_competing', 'owners say not competing')], max_length=32)),
                ('case', densemem.db.fields.TeamKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='events', to='relationships.conflictcase')),
                ('other', densemem.db.fields.TeamKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='relationships.conflictcase')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='densemem.team')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='ConflictPosition',
            fields=[
                ('id', densemem.db.fields.IdField(default=densemem.db.fields.new_id, editable=False, primary_key=True, serialize=False)),
                ('seq', densemem.db.fields.SequenceField(db_default=densemem.db.fields.NextInSequence(), editable=False, unique=True)),
                ('recorded_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('semantic_group_key', models.CharField(max_length=64)),
                ('version', models.PositiveIntegerField()),
                ('case', densemem.db.fields.TeamKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='positions', to='relationships.conflictcase')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='densemem.team')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='ConflictStatement',
            fields=[
                ('id', densemem.db.fields.IdField(default=densemem.db.fields.new_id, editable=False, primary_key=True, serialize=False)),
                ('seq', densemem.db.fields.SequenceField(db_default=densemem.db.fields.NextInSequence(), editable=False, unique=True)),
                ('recorded_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('version', models.PositiveIntegerField()),
                ('relationship_version', models.PositiveIntegerField()),
                ('case', densemem.db.fields.TeamKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='statements', to='relationships.conflictcase')),
                ('decision', densemem.db.fields.TeamKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='review.decision')),
                ('owner', densemem.db.fields.TeamKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='densemem.profile')),
                ('relationship', densemem.db.fields.TeamKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='relationships.relationshiprecord')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='densemem.team')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.AddIndex(
            model_name='conflictcase',
            index=models.Index(fields=['team', 'status', 'opened_at'], name='conflictcase_list'),
        ),
        migrations.AddConstraint(
            model_name='conflictcase',
            constraint=models.UniqueConstraint(fields=('team', 'id'), name='conflictcase_in_team'),
        ),
        migrations.AddConstraint(
            model_name='conflictcase',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['open', 'closed'])), name='conflictcase_status_is_known'),
        ),
        migrations.AddConstraint(
            model_name='conflictcase',
            constraint=models.CheckConstraint(condition=models.Q(('reason__in', ['positions_compete', 'conflicts_connected', 'owner_says_not_competing', 'one_position_left', 'owners_say_not_competing'])), name='conflictcase_reason_is_known'),
        ),
        migrations.AddConstraint(
            model_name='conflictcase',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('closed_at__isnull', True), ('status', relationships.vocabulary.ConflictStatus['OPEN'])), models.Q(('closed_at__isnull', False), ('status', relationships.vocabulary.ConflictStatus['CLOSED'])), _connector='OR'), name='conflictcase_closed_at_a_time'),
        ),
        migrations.AddConstraint(
            model_name='conflictevent',
            constraint=models.UniqueConstraint(fields=('team', 'id'), name='conflictevent_in_team'),
        ),
        migrations.AddConstraint(
            model_name='conflictevent',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['opened', 'position_added', 'merged', 'statement', 'closed', 'reopened'])), name='conflictevent_kind_is_known'),
        ),
        migrations.AddConstraint(
            model_name='conflictevent',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['open', 'closed'])), name='conflictevent_status_is_known'),
        ),
        migrations.AddConstraint(
            model_name='conflictevent',
            constraint=models.CheckConstraint(condition=models.Q(('reason__in', ['positions_compete', 'conflicts_connected', 'owner_says_not_competing', 'one_position_left', 'owners_say_not_competing'])), name='conflictevent_reason_is_known'),
        ),
        migrations.AddConstraint(
            model_name='conflictevent',
            constraint=models.UniqueConstraint(fields=('team', 'case', 'version'), name='conflictevent_of_version'),
        ),
        migrations.AddConstraint(
            model_name='conflictevent',
            constraint=models.CheckConstraint(condition=models.Q(('other', models.F('case')), _negated=True), name='conflictevent_of_two'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='conflictevent',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=densemem.db.ledger.UnconditionalSql(func="RAISE EXCEPTION 'history is append-only: % on % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';", hash='9e27ae65c7229be22e6b53f23f7e8d8ca9c70f25', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_0bec5', table='relationships_conflictevent', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='conflictevent',
            trigger=pgtrigger.compiler.Trigger(name='no_truncate', sql=densemem.db.ledger.UnconditionalSql(func="RAISE EXCEPTION 'history is append-only: % on % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';", hash='b98ce57a74064bf22b5ec46075967355828766a9', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_no_truncate_a65ef', table='relationships_conflictevent', when='BEFORE')),
        ),
        migrations.AddIndex(
            model_name='conflictposition',
            index=models.Index(fields=['team', 'semantic_group_key'], name='conflictposition_group'),
        ),
        migrations.AddConstraint(
            model_name='conflictposition',
            constraint=models.UniqueConstraint(fields=('team', 'id'), name='conflictposition_in_team'),
        ),
        migrations.AddConstraint(
            model_name='conflictposition',
            constraint=models.UniqueConstraint(fields=('team', 'case', 'semantic_group_key'), name='conflictposition_once'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='conflictposition',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=densemem.db.ledger.UnconditionalSql(func="RAISE EXCEPTION 'history is append-only: % on % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';", hash='6ff2301cb55e50fcbb8c685102aee82260506c4f', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_bbc32', table='relationships_conflictposition', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='conflictposition',
            trigger=pgtrigger.compiler.Trigger(name='no_truncate', sql=densemem.db.ledger.UnconditionalSql(func="RAISE EXCEPTION 'history is append-only: % on % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';", hash='0b17a7a6079ff934f06dff5e7cbb5d5d4385fd6e', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_no_truncate_41503', table='relationships_conflictposition', when='BEFORE')),
        ),
        migrations.AddConstraint(
            model_name='conflictstatement',
            constraint=models.UniqueConstraint(fields=('team', 'id'), name='conflictstatement_in_team'),
        ),
        migrations.AddConstraint(
            model_name='conflictstatement',
            constraint=models.UniqueConstraint(fields=('team', 'case', 'version', 'relationship'), name='conflictstatement_once'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='conflictstatement',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=densemem.db.ledger.UnconditionalSql(func="RAISE EXCEPTION 'history is append-only: % on % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';", hash='2878dd59c34bc3def5f583cfa59d8c7b7fb3445c', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_d5f0c', table='relationships_conflictstatement', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='conflictstatement',
            trigger=pgtrigger.compiler.Trigger(name='no_truncate', sql=densemem.db.ledger.UnconditionalSql(func="RAISE EXCEPTION 'history is append-only: % on % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';", hash='f279d358403cd0bcd811bcbf29e34c6a627abe46', level='STATEMENT', operation='TRUNCATE', pgid='pgtrigger_no_truncate_f6324', table='relationships_conflictstatement', when='BEFORE')),
        ),
        TeamKeys("conflictcase", "conflictposition", "conflictevent", "conflictstatement"),
        migrations.RunPython(open_cases, migrations.RunPython.noop),
    ]
