"""A judgment that somebody asked for says why."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('relationships', '0005_conflicts'),
    ]

    operations = [
        migrations.AddField(
            model_name='verificationevent',
            name='reason',
            field=models.CharField(blank=True, max_length=1000),
        ),
    ]
