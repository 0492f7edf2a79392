"""Laws that Django's own operations cannot say."""

from django.db import migrations

from densemem.db.migrate import TeamKeys


class Migration(migrations.Migration):
    dependencies = [("evidence", "0001_initial")]

    operations = [
        TeamKeys("ingest", "sourcegroup", "source", "sourcerevision", "content", "fragment", "fragmentretirement", "groupjoin", "securityevent", "securitysignal", "quarantine", "wording"),
    ]
