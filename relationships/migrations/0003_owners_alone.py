"""Only its owner changes knowledge."""
import densemem.db.ledger
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('relationships', '0002_laws'),
    ]

    operations = [
        pgtrigger.migrations.AddTrigger(
            model_name='crossreference',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF true AND EXISTS (SELECT FROM written JOIN relationships_relationshiprecord AS record ON record.id = written.source_relationship_id WHERE written.author_id IS DISTINCT FROM nullif(current_setting('densemem.profile', true), '')::uuid OR record.owner_id IS DISTINCT FROM nullif(current_setting('densemem.profile', true), '')::uuid) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='aaf226ca8d52db51f5fd468106f5125ee78f78f3', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_1a082', referencing='REFERENCING NEW TABLE AS written ', table='relationships_crossreference', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='evidencesupport',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF true AND EXISTS (SELECT FROM written JOIN relationships_relationshiprecord AS record ON record.id = written.relationship_id WHERE written.owner_id IS DISTINCT FROM nullif(current_setting('densemem.profile', true), '')::uuid OR record.owner_id IS DISTINCT FROM nullif(current_setting('densemem.profile', true), '')::uuid) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='4906f9b9735880ba14c2713ddb2cde68252f2516', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_f93bf', referencing='REFERENCING NEW TABLE AS written ', table='relationships_evidencesupport', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='lineage',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF true AND EXISTS (SELECT FROM written \n    JOIN relationships_relationshiprecord AS record ON record.id IN (written.successor_id, written.predecessor_id) WHERE record.owner_id IS DISTINCT FROM nullif(current_setting('densemem.profile', true), '')::uuid) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='1d269ae911bf91729858a9d4274ea26254cfb5ce', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_6b33b', referencing='REFERENCING NEW TABLE AS written ', table='relationships_lineage', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='observation',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF true AND EXISTS (SELECT FROM written  WHERE written.owner_id IS DISTINCT FROM nullif(current_setting('densemem.profile', true), '')::uuid) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='c37665038196b5b65c259513e3a5590fa3129cbe', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_9820b', referencing='REFERENCING NEW TABLE AS written ', table='relationships_observation', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='observationresolution',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF true AND EXISTS (SELECT FROM written \n    JOIN relationships_observation AS seen ON seen.id = written.observation_id\n    LEFT JOIN relationships_relationshiprecord AS record ON record.id = written.relationship_id WHERE seen.owner_id IS DISTINCT FROM nullif(current_setting('densemem.profile', true), '')::uuid OR coalesce(record.owner_id, seen.owner_id) IS DISTINCT FROM nullif(current_setting('densemem.profile', true), '')::uuid) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='c7b79c578eb91483416f4946168a5e2d686cb213', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_1b83e', referencing='REFERENCING NEW TABLE AS written ', table='relationships_observationresolution', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='relationshiprecord',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF true AND EXISTS (SELECT FROM written  WHERE written.owner_id IS DISTINCT FROM nullif(current_setting('densemem.profile', true), '')::uuid) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='a53bb42f18a934ea23e556ca8a26966fe36074cc', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_3f671', referencing='REFERENCING NEW TABLE AS written ', table='relationships_relationshiprecord', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='relationshiprecord',
            trigger=pgtrigger.compiler.Trigger(name='update_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF coalesce(current_setting('densemem.writer', true), '') NOT IN ('source_activation', 'evidence_hold', 'group_join', 'support_reinstatement', 'redaction') AND EXISTS (SELECT FROM written  WHERE written.owner_id IS DISTINCT FROM nullif(current_setting('densemem.profile', true), '')::uuid) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='6011927d0c564e1bab92aec243b2b616de6aa2c3', level='STATEMENT', operation='UPDATE', pgid='pgtrigger_update_by_owner_11f22', referencing='REFERENCING NEW TABLE AS written ', table='relationships_relationshiprecord', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='supportdecision',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF coalesce(current_setting('densemem.writer', true), '') NOT IN ('source_activation', 'evidence_hold', 'group_join', 'support_reinstatement', 'redaction') AND EXISTS (SELECT FROM written JOIN relationships_evidencesupport AS support ON support.id = written.support_id WHERE support.owner_id IS DISTINCT FROM nullif(current_setting('densemem.profile', true), '')::uuid) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='81709a9f98846960451dd8dd84da9d91a9d81415', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_3b62b', referencing='REFERENCING NEW TABLE AS written ', table='relationships_supportdecision', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='transition',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF coalesce(current_setting('densemem.writer', true), '') NOT IN ('source_activation', 'evidence_hold', 'group_join', 'support_reinstatement', 'redaction') AND EXISTS (SELECT FROM written JOIN relationships_relationshiprecord AS record ON record.id = written.relationship_id WHERE record.owner_id IS DISTINCT FROM nullif(current_setting('densemem.profile', true), '')::uuid) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='b0f45b92a6f3c7fc37e237b9b6431430e7b861cd', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_d8119', referencing='REFERENCING NEW TABLE AS written ', table='relationships_transition', when='AFTER')),
        ),
    ]
