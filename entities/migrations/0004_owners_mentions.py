"""Only its owner says what a mention means."""

import densemem.db.ledger
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('entities', '0003_redactable_words'),
    ]

    operations = [
        pgtrigger.migrations.AddTrigger(
            model_name='resolutionevent',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF EXISTS (SELECT FROM written JOIN placement_item AS item ON item.id = written.item_id WHERE NOT coalesce(CASE WHEN coalesce(current_setting('densemem.writer', true), '') = '' THEN item.owner_id = nullif(current_setting('densemem.profile', true), '')::uuid ELSE false END, false)) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='28e123e1d8faacd68a93a8abea5d1cf74a695514', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_57596', referencing='REFERENCING NEW TABLE AS written ', table='entities_resolutionevent', when='AFTER')),
        ),
    ]
