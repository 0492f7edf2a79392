"""More rows that only their owner writes; a record may take the same place again."""

import densemem.db.ledger
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('relationships', '0007_redactable_words'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='lineage',
            name='lineage_once',
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='conflictstatement',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF true AND EXISTS (SELECT FROM written JOIN relationships_relationshiprecord AS record ON record.id = written.relationship_id WHERE written.owner_id IS DISTINCT FROM nullif(current_setting('densemem.profile', true), '')::uuid OR record.owner_id IS DISTINCT FROM nullif(current_setting('densemem.profile', true), '')::uuid) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='8f1e5a36a7a0552c5a678f79864a636331bcc80c', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_918f7', referencing='REFERENCING NEW TABLE AS written ', table='relationships_conflictstatement', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='observationspan',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF true AND EXISTS (SELECT FROM written JOIN relationships_observation AS seen ON seen.id = written.observation_id WHERE seen.owner_id IS DISTINCT FROM nullif(current_setting('densemem.profile', true), '')::uuid) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='f3fcd1339c7463356f5bc4114ff097799d93feb6', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_e9f09', referencing='REFERENCING NEW TABLE AS written ', table='relationships_observationspan', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='verificationevent',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF true AND EXISTS (SELECT FROM written JOIN relationships_observation AS seen ON seen.id = written.observation_id WHERE seen.owner_id IS DISTINCT FROM nullif(current_setting('densemem.profile', true), '')::uuid) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='6b07204aeb2547c4285a2eb72a8ad672cf1525dd', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_1c37b', referencing='REFERENCING NEW TABLE AS written ', table='relationships_verificationevent', when='AFTER')),
        ),
    ]
