"""Laws of the decisions that Django's own operations cannot say."""

from django.db import migrations

from densemem.db.migrate import TeamKeys


class Migration(migrations.Migration):
    dependencies = [("review", "0003_decisions")]

    operations = [
        TeamKeys("waiting", "decision", "decisionevidence", "decisionuse"),
    ]
