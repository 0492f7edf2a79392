"""Laws that Django's own operations cannot say."""

from django.db import migrations

from densemem.db.migrate import TeamKeys


class Migration(migrations.Migration):
    dependencies = [("densemem", "0001_initial")]

    operations = [
        TeamKeys("profile", "membership"),
    ]
