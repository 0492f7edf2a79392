from django.db import migrations, models

# Each claim passes what ended at the front of the queue's index until it is swept, however long the table has grown.
SWEEP_OFTEN = "ALTER TABLE placement_item SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)"
AS_BEFORE = "ALTER TABLE placement_item RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold)"


class Migration(migrations.Migration):
    dependencies = [("placement", "0004_queue_of_teams")]

    operations = [
        migrations.AddField(
            model_name="item",
            name="uncounted",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.RunSQL(SWEEP_OFTEN, AS_BEFORE),
    ]
