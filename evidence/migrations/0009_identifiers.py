"""A redaction takes out what a text identifies things by, and the hashed forms of the names that it takes out."""

from importlib import import_module

from django.db import migrations

# As before; beside names and values, also the identifiers that the text gives. One of few letters tells by its digits.
REDACT = r"""
CREATE OR REPLACE FUNCTION evidence_redact(wanted uuid) RETURNS TABLE (place text, removed bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $redact$
DECLARE
  asked evidence_redaction;
  spoken text;
  texts uuid[];
  requests uuid[];
  unsaid_names uuid[];
  unsaid_values uuid[];
  unsaid_identifiers uuid[];
  unsaid_records uuid[];
  gone text[];
BEGIN
  SELECT * INTO STRICT asked FROM evidence_redaction WHERE id = wanted;
  texts := ARRAY(SELECT id FROM evidence_fragment WHERE team_id = asked.team_id AND content_id = asked.content_id);
  requests := ARRAY(
    SELECT ingest_id FROM evidence_fragment WHERE id = ANY(texts)
    UNION SELECT ingest_id FROM placement_item WHERE team_id = asked.team_id AND fragment_id = ANY(texts));
  SELECT text INTO spoken FROM evidence_content WHERE team_id = asked.team_id AND id = asked.content_id;
  PERFORM set_config('densemem.redacting', 'on', true);

  place := 'evidence_content';
  UPDATE evidence_content SET text = repeat(U&'\2588', char_length(text)), redacted_at = asked.recorded_at
  WHERE team_id = asked.team_id AND id = asked.content_id AND redacted_at IS NULL;
  GET DIAGNOSTICS removed = ROW_COUNT;
  IF removed = 0 THEN
    RAISE EXCEPTION 'this text is redacted already' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEXT;

  -- What only redacted texts say: a name stays while another text says it of the same Entity.
  unsaid_names := ARRAY(
    SELECT name.id FROM entities_name AS name
    WHERE name.team_id = asked.team_id AND starts_with(name.key, 'REDACTED:') IS FALSE
      AND (name.fragment_id = ANY(texts) OR name.entity_id IN (
        SELECT seen.entity_id FROM entities_resolutionevent AS seen
        WHERE seen.team_id = asked.team_id AND seen.fragment_id = ANY(texts)))
      AND EXISTS (
        SELECT FROM evidence_fragment AS said JOIN evidence_content AS words ON words.id = said.content_id
        WHERE said.id = name.fragment_id AND words.redacted_at IS NOT NULL)
      AND NOT EXISTS (
        SELECT FROM entities_resolutionevent AS seen
        JOIN evidence_fragment AS said ON said.id = seen.fragment_id
        JOIN evidence_content AS words ON words.id = said.content_id
        WHERE seen.team_id = name.team_id AND seen.entity_id = name.entity_id AND words.redacted_at IS NULL
          AND lower(normalize(substring(words.text FROM seen.start + 1 FOR seen."end" - seen.start), NFKC))
            = lower(normalize(name.display, NFKC))));
  unsaid_values := ARRAY(
    SELECT value.id FROM entities_value AS value
    WHERE value.team_id = asked.team_id AND starts_with(value.canonical, 'REDACTED:') IS FALSE
      AND (value.fragment_id = ANY(texts) OR value.id IN (
        SELECT become.object_value_id FROM relationships_observation AS seen
        JOIN relationships_observationresolution AS become ON become.observation_id = seen.id
        WHERE seen.team_id = asked.team_id AND seen.fragment_id = ANY(texts)))
      AND EXISTS (
        SELECT FROM evidence_fragment AS said JOIN evidence_content AS words ON words.id = said.content_id
        WHERE said.id = value.fragment_id AND words.redacted_at IS NOT NULL)
      AND NOT EXISTS (
        SELECT FROM relationships_observationresolution AS become
        JOIN relationships_observation AS seen ON seen.id = become.observation_id
        JOIN evidence_fragment AS said ON said.id = seen.fragment_id
        JOIN evidence_content AS words ON words.id = said.content_id
        WHERE become.team_id = value.team_id AND become.object_value_id = value.id AND words.redacted_at IS NULL));
  unsaid_identifiers := ARRAY(
    SELECT own.id FROM entities_identifier AS own
    WHERE own.team_id = asked.team_id AND own.fragment_id = ANY(texts)
      AND NOT EXISTS (
        SELECT FROM entities_identifier AS other
        JOIN evidence_fragment AS said ON said.id = other.fragment_id
        JOIN evidence_content AS words ON words.id = said.content_id
        WHERE other.team_id = own.team_id AND (other.scheme, other.value) = (own.scheme, own.value)
          AND words.redacted_at IS NULL));
  unsaid_records := ARRAY(
    SELECT DISTINCT become.relationship_id FROM relationships_observation AS seen
    JOIN relationships_observationresolution AS become ON become.observation_id = seen.id
    WHERE seen.team_id = asked.team_id AND seen.fragment_id = ANY(texts) AND become.relationship_id IS NOT NULL
      AND NOT EXISTS (
        SELECT FROM relationships_observationresolution AS also
        JOIN relationships_observation AS other ON other.id = also.observation_id
        JOIN evidence_fragment AS said ON said.id = other.fragment_id
        JOIN evidence_content AS words ON words.id = said.content_id
        WHERE also.team_id = asked.team_id AND also.relationship_id = become.relationship_id
          AND words.redacted_at IS NULL));
  gone := ARRAY(
    SELECT DISTINCT '(?<!\w)'
      || regexp_replace(regexp_replace(folded, '([^[:alnum:][:space:]])', '\\\1', 'g'), '\s+', '\\s+', 'g') || '(?!\w)'
    FROM (
      SELECT display FROM entities_name WHERE id = ANY(unsaid_names)
      UNION SELECT display FROM entities_value WHERE id = ANY(unsaid_values) AND type <> 'boolean'
      UNION SELECT spoken WHERE char_length(spoken) <= 200
      UNION SELECT form FROM entities_identifier AS own, unnest(ARRAY[own.display, own.value]) AS form
      WHERE own.id = ANY(unsaid_identifiers)
    ) AS said (word), LATERAL (SELECT btrim(lower(normalize(word, NFKC)), E' .!?\n')) AS trimmed (folded)
    WHERE char_length(regexp_replace(folded, '[^[:alpha:]]', '', 'g')) >= 4
      OR char_length(regexp_replace(folded, '[^[:alnum:]]', '', 'g')) >= 8 AND EXISTS (
        SELECT FROM entities_identifier WHERE id = ANY(unsaid_identifiers) AND word IN (display, value)));

  place := 'evidence_fragment';
  UPDATE evidence_fragment SET labels = '{}', metadata = '{}'
  WHERE id = ANY(texts) AND (labels <> '{}' OR metadata <> '{}');
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN NEXT;

  place := 'evidence_wording';
  UPDATE evidence_wording AS copy SET text = '[redacted]'
  FROM evidence_fragment AS said JOIN evidence_content AS words ON words.id = said.content_id
  WHERE copy.team_id = asked.team_id AND said.id = copy.fragment_id AND copy.text <> '[redacted]'
    AND (copy.fragment_id = ANY(texts) OR evidence_repeats(copy.text, words.text, gone));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN NEXT;

  place := 'placement_itemproposal';
  UPDATE placement_itemproposal AS copy SET payload = '{}'
  FROM placement_item AS item, evidence_fragment AS said JOIN evidence_content AS words ON words.id = said.content_id
  WHERE copy.team_id = asked.team_id AND item.id = copy.item_id AND said.id = copy.fragment_id AND copy.payload <> '{}'
    AND (item.ingest_id = ANY(requests) OR evidence_repeats(
      (SELECT string_agg(part #>> '{}', ' ') FROM jsonb_path_query(copy.payload, '$.** ? (@.type() == "string")') AS part),
      words.text, gone));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN NEXT;

  place := 'placement_itemanswer';
  UPDATE placement_itemanswer AS copy SET payload = '{}'
  FROM evidence_fragment AS said JOIN evidence_content AS words ON words.id = said.content_id
  WHERE copy.team_id = asked.team_id AND said.id = copy.fragment_id AND copy.payload <> '{}'
    AND (copy.fragment_id = ANY(texts) OR evidence_repeats(
      (SELECT string_agg(part #>> '{}', ' ') FROM jsonb_path_query(copy.payload, '$.**.rationale') AS part),
      words.text, gone));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN NEXT;

  place := 'entities_name';
  UPDATE entities_name SET display = '[redacted]', key = 'REDACTED:' || id, forms = '{}'
  WHERE id = ANY(unsaid_names);
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN NEXT;

  place := 'entities_identifier';
  UPDATE entities_identifier SET display = '[redacted]', value = 'REDACTED:' || id
  WHERE team_id = asked.team_id AND fragment_id = ANY(texts) AND value <> 'REDACTED:' || id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN NEXT;

  place := 'entities_entity';
  UPDATE entities_entity SET identity_context = '{}'
  WHERE team_id = asked.team_id AND identity_context <> '{}'
    AND (first_ingest_id = ANY(requests) OR evidence_repeats(identity_context::text, '', gone));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN NEXT;

  place := 'entities_value';
  UPDATE entities_value SET display = '[redacted]', canonical = 'REDACTED:' || id, unit = NULL
  WHERE id = ANY(unsaid_values);
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN NEXT;

  place := 'entities_resolutionevent';
  UPDATE entities_resolutionevent SET mention_ref = 'REDACTED:' || id
  WHERE team_id = asked.team_id AND fragment_id = ANY(texts);
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN NEXT;

  place := 'relationships_relationshiprecord';
  UPDATE relationships_relationshiprecord SET scope_key = 'REDACTED:' || id
  WHERE id = ANY(unsaid_records) AND scope_key IS NOT NULL;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN NEXT;

  place := 'relationships_observation';
  UPDATE relationships_observation SET ref = 'REDACTED:' || id, subject_ref = '[redacted]',
    object_ref = CASE object_ref WHEN '' THEN '' ELSE '[redacted]' END,
    proposal_id = CASE proposal_id WHEN '' THEN '' ELSE '[redacted]' END,
    scope_key = CASE WHEN scope_key IS NOT NULL THEN '[redacted]' END
  WHERE team_id = asked.team_id AND fragment_id = ANY(texts);
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN NEXT;

  place := 'relationships_verificationevent';
  UPDATE relationships_verificationevent AS copy SET reason = '[redacted]'
  FROM relationships_observation AS seen
  WHERE copy.team_id = asked.team_id AND seen.id = copy.observation_id AND copy.reason NOT IN ('', '[redacted]')
    AND (seen.fragment_id = ANY(texts) OR evidence_repeats(copy.reason, '', gone));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN NEXT;

  place := 'evidence_securityevent';
  UPDATE evidence_securityevent SET reason = '[redacted]'
  WHERE team_id = asked.team_id AND reason NOT IN ('', '[redacted]')
    AND (fragment_id = ANY(texts) OR evidence_repeats(reason, '', gone));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN NEXT;

  place := 'review_decision';
  WITH about AS (
    SELECT id, fragment_id = ANY(texts) IS TRUE AS of_text FROM review_decision
    WHERE team_id = asked.team_id AND action <> 'redact' AND (
      fragment_id = ANY(texts) OR relationship_id = ANY(unsaid_records) OR evidence_repeats(message, '', gone)
      OR item_id IN (SELECT id FROM placement_item WHERE team_id = asked.team_id AND fragment_id = ANY(texts))
      OR task_id IN (SELECT id FROM review_task WHERE team_id = asked.team_id AND fragment_id = ANY(texts))
      OR observation_id IN (
        SELECT id FROM relationships_observation WHERE team_id = asked.team_id AND fragment_id = ANY(texts))
      OR support_id IN (
        SELECT id FROM relationships_evidencesupport WHERE team_id = asked.team_id AND fragment_id = ANY(texts))
      OR id IN (
        SELECT decision_id FROM review_decisionevidence WHERE team_id = asked.team_id AND fragment_id = ANY(texts))))
  UPDATE review_decision AS made SET message = CASE made.message WHEN '' THEN '' ELSE '[redacted]' END,
    mention_ref = CASE WHEN about.of_text AND made.mention_ref <> '' THEN '[redacted]' ELSE made.mention_ref END
  FROM about
  WHERE made.id = about.id AND (made.message NOT IN ('', '[redacted]')
    OR about.of_text AND made.mention_ref NOT IN ('', '[redacted]'));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN NEXT;

  PERFORM set_config('densemem.redacting', '', true);
END $redact$;
"""


def as_before() -> str:
    """Return the SQL of the function as the migration before made it."""
    made: str = import_module("evidence.migrations.0007_every_copy").REDACT
    return made


class Migration(migrations.Migration):

    dependencies = [
        ('evidence', '0008_traced_joins'),
        ('entities', '0006_redactable_forms'),
    ]

    operations = [
        migrations.RunSQL(REDACT, as_before()),
    ]
