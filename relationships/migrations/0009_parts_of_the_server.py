"""What each part of the server may write, and nothing else."""

import densemem.db.ledger
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('relationships', '0008_owners_rows'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='conflictstatement',
            name='insert_by_owner',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='crossreference',
            name='insert_by_owner',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='evidencesupport',
            name='insert_by_owner',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='lineage',
            name='insert_by_owner',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='observation',
            name='insert_by_owner',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='observationresolution',
            name='insert_by_owner',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='observationspan',
            name='insert_by_owner',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='relationshiprecord',
            name='insert_by_owner',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='relationshiprecord',
            name='update_by_owner',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='supportdecision',
            name='insert_by_owner',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='transition',
            name='insert_by_owner',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='verificationevent',
            name='insert_by_owner',
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='conflictstatement',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF EXISTS (SELECT FROM written JOIN relationships_relationshiprecord AS record ON record.id = written.relationship_id WHERE NOT coalesce(CASE WHEN coalesce(current_setting('densemem.writer', true), '') = '' THEN written.owner_id = nullif(current_setting('densemem.profile', true), '')::uuid AND record.owner_id = nullif(current_setting('densemem.profile', true), '')::uuid ELSE false END, false)) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='41d8fcb785282dba39d729eff6ec8ec855fa6a9a', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_918f7', referencing='REFERENCING NEW TABLE AS written ', table='relationships_conflictstatement', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='crossreference',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF EXISTS (SELECT FROM written JOIN relationships_relationshiprecord AS record ON record.id = written.source_relationship_id WHERE NOT coalesce(CASE WHEN coalesce(current_setting('densemem.writer', true), '') = '' THEN written.author_id = nullif(current_setting('densemem.profile', true), '')::uuid AND record.owner_id = nullif(current_setting('densemem.profile', true), '')::uuid WHEN coalesce(current_setting('densemem.writer', true), '') = 'support_reinstatement' THEN written.author_id = record.owner_id ELSE false END, false)) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='040e0dd5c466a4b7bc2da94d4346fdbcc47544ff', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_1a082', referencing='REFERENCING NEW TABLE AS written ', table='relationships_crossreference', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='evidencesupport',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF EXISTS (SELECT FROM written JOIN relationships_relationshiprecord AS record ON record.id = written.relationship_id WHERE NOT coalesce(CASE WHEN coalesce(current_setting('densemem.writer', true), '') = '' THEN written.owner_id = nullif(current_setting('densemem.profile', true), '')::uuid AND record.owner_id = nullif(current_setting('densemem.profile', true), '')::uuid ELSE false END, false)) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='a89f1430f948f3c28a0b82cc89196b5ec476a8fb', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_f93bf', referencing='REFERENCING NEW TABLE AS written ', table='relationships_evidencesupport', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='lineage',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF EXISTS (SELECT FROM written \n    JOIN relationships_relationshiprecord AS record ON record.id IN (written.successor_id, written.predecessor_id) WHERE NOT coalesce(CASE WHEN coalesce(current_setting('densemem.writer', true), '') = '' THEN record.owner_id = nullif(current_setting('densemem.profile', true), '')::uuid ELSE false END, false)) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='04a44c9ed8b9b5c8a5cb091d3e39368bbf0516f4', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_6b33b', referencing='REFERENCING NEW TABLE AS written ', table='relationships_lineage', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='observation',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF EXISTS (SELECT FROM written  WHERE NOT coalesce(CASE WHEN coalesce(current_setting('densemem.writer', true), '') = '' THEN written.owner_id = nullif(current_setting('densemem.profile', true), '')::uuid ELSE false END, false)) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='c3349f37aaf946de01806d63b120c692d3aeaf8f', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_9820b', referencing='REFERENCING NEW TABLE AS written ', table='relationships_observation', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='observationresolution',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF EXISTS (SELECT FROM written \n    JOIN relationships_observation AS seen ON seen.id = written.observation_id\n    LEFT JOIN relationships_relationshiprecord AS record ON record.id = written.relationship_id WHERE NOT coalesce(CASE WHEN coalesce(current_setting('densemem.writer', true), '') = '' THEN seen.owner_id = nullif(current_setting('densemem.profile', true), '')::uuid AND coalesce(record.owner_id, seen.owner_id) = nullif(current_setting('densemem.profile', true), '')::uuid ELSE false END, false)) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='ad1c952f523bc9019c77807609387e804e782d46', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_1b83e', referencing='REFERENCING NEW TABLE AS written ', table='relationships_observationresolution', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='observationspan',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF EXISTS (SELECT FROM written JOIN relationships_observation AS seen ON seen.id = written.observation_id WHERE NOT coalesce(CASE WHEN coalesce(current_setting('densemem.writer', true), '') = '' THEN seen.owner_id = nullif(current_setting('densemem.profile', true), '')::uuid ELSE false END, false)) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='140d5016b6231241e4ff4b7fdc9c48246254cd83', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_e9f09', referencing='REFERENCING NEW TABLE AS written ', table='relationships_observationspan', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='relationshiprecord',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF EXISTS (SELECT FROM written  WHERE NOT coalesce(CASE WHEN coalesce(current_setting('densemem.writer', true), '') = '' THEN written.owner_id = nullif(current_setting('densemem.profile', true), '')::uuid ELSE false END, false)) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='81ab43f1678223093cfdd7ab95b82bc90b22e620', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_3f671', referencing='REFERENCING NEW TABLE AS written ', table='relationships_relationshiprecord', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='relationshiprecord',
            trigger=pgtrigger.compiler.Trigger(name='update_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF EXISTS (SELECT FROM written JOIN before ON before.id = written.id WHERE NOT coalesce(CASE WHEN coalesce(current_setting('densemem.writer', true), '') = '' THEN written.owner_id = nullif(current_setting('densemem.profile', true), '')::uuid WHEN coalesce(current_setting('densemem.writer', true), '') = 'source_activation' THEN (written.status = before.status OR (before.status = 'pending_evidence' AND written.status = 'active') OR written.status = 'pending_evidence') WHEN coalesce(current_setting('densemem.writer', true), '') = 'group_join' THEN (written.status = before.status OR (before.status = 'pending_evidence' AND written.status = 'active')) WHEN coalesce(current_setting('densemem.writer', true), '') = 'redaction' THEN (written.status = before.status OR (before.status = 'pending_evidence' AND written.status = 'active') OR written.status = 'pending_evidence') WHEN coalesce(current_setting('densemem.writer', true), '') = 'evidence_hold' THEN (written.status = before.status OR (before.status = 'pending_evidence' AND written.status = 'active') OR written.status IN ('pending_evidence', 'quarantined')) WHEN coalesce(current_setting('densemem.writer', true), '') = 'support_reinstatement' THEN (written.status = before.status OR written.status = 'active') ELSE false END, false)) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='4e49d1a1e35ad16cb4964094270ddbc778656e25', level='STATEMENT', operation='UPDATE', pgid='pgtrigger_update_by_owner_11f22', referencing='REFERENCING OLD TABLE AS before  NEW TABLE AS written ', table='relationships_relationshiprecord', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='supportdecision',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF EXISTS (SELECT FROM written JOIN relationships_evidencesupport AS support ON support.id = written.support_id WHERE NOT coalesce(CASE WHEN coalesce(current_setting('densemem.writer', true), '') = '' THEN support.owner_id = nullif(current_setting('densemem.profile', true), '')::uuid WHEN coalesce(current_setting('densemem.writer', true), '') = 'source_activation' THEN written.action = 'revoke' WHEN coalesce(current_setting('densemem.writer', true), '') = 'evidence_hold' THEN written.action = 'revoke' WHEN coalesce(current_setting('densemem.writer', true), '') = 'redaction' THEN written.action = 'revoke' WHEN coalesce(current_setting('densemem.writer', true), '') = 'support_reinstatement' THEN written.action = 'reinstate' ELSE false END, false)) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='65cec6891847d2428b7a6974a8751d1311b23deb', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_3b62b', referencing='REFERENCING NEW TABLE AS written ', table='relationships_supportdecision', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='transition',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF EXISTS (SELECT FROM written JOIN relationships_relationshiprecord AS record ON record.id = written.relationship_id WHERE NOT coalesce(CASE WHEN coalesce(current_setting('densemem.writer', true), '') = '' THEN record.owner_id = nullif(current_setting('densemem.profile', true), '')::uuid WHEN coalesce(current_setting('densemem.writer', true), '') = 'source_activation' THEN (written.status = written.status_before OR (written.status_before = 'pending_evidence' AND written.status = 'active') OR written.status = 'pending_evidence') WHEN coalesce(current_setting('densemem.writer', true), '') = 'group_join' THEN (written.status = written.status_before OR (written.status_before = 'pending_evidence' AND written.status = 'active')) WHEN coalesce(current_setting('densemem.writer', true), '') = 'redaction' THEN (written.status = written.status_before OR (written.status_before = 'pending_evidence' AND written.status = 'active') OR written.status = 'pending_evidence') WHEN coalesce(current_setting('densemem.writer', true), '') = 'evidence_hold' THEN (written.status = written.status_before OR (written.status_before = 'pending_evidence' AND written.status = 'active') OR written.status IN ('pending_evidence', 'quarantined')) WHEN coalesce(current_setting('densemem.writer', true), '') = 'support_reinstatement' THEN (written.status = written.status_before OR written.status = 'active') ELSE false END, false)) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='00da6a356de0556e1c4ebb68082eca45d9ef420c', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_d8119', referencing='REFERENCING NEW TABLE AS written ', table='relationships_transition', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='verificationevent',
            trigger=pgtrigger.compiler.Trigger(name='insert_by_owner', sql=densemem.db.ledger.UnconditionalSql(func="\n    IF EXISTS (SELECT FROM written JOIN relationships_observation AS seen ON seen.id = written.observation_id WHERE NOT coalesce(CASE WHEN coalesce(current_setting('densemem.writer', true), '') = '' THEN seen.owner_id = nullif(current_setting('densemem.profile', true), '')::uuid ELSE false END, false)) THEN\n        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME\n        USING ERRCODE = 'insufficient_privilege';\n    END IF;\n    RETURN NULL;\n", hash='a105bf1bbbbe153ba57e02aae1e66d11667538f0', level='STATEMENT', operation='INSERT', pgid='pgtrigger_insert_by_owner_1c37b', referencing='REFERENCING NEW TABLE AS written ', table='relationships_verificationevent', when='AFTER')),
        ),
    ]
