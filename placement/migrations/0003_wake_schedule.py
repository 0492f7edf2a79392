"""A drain is woken every minute, whatever happened to the wake-ups in between."""

from django.db import migrations

NAME = "wake placement"


def schedule(apps, schema_editor):
    rows = apps.get_model("django_q", "Schedule").objects.using(schema_editor.connection.alias)
    rows.get_or_create(
        name=NAME, defaults={"func": "placement.tasks.drain", "schedule_type": "I", "minutes": 1, "repeats": -1}
    )


def unschedule(apps, schema_editor):
    apps.get_model("django_q", "Schedule").objects.using(schema_editor.connection.alias).filter(name=NAME).delete()


class Migration(migrations.Migration):
    dependencies = [("placement", "0002_laws"), ("django_q", "0018_task_success_index")]

    operations = [migrations.RunPython(schedule, unschedule)]
