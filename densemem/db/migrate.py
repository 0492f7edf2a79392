"""Migration operations of ours."""

from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from densemem.db.fields import TEAM_KEYS

ADD = (
    "ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY (team_id, {column}) "
    "REFERENCES {target} (team_id, id) DEFERRABLE INITIALLY DEFERRED"
)


class TeamKeys(Operation):
    """Give each `TeamKey` of the named models its composite foreign key, so that no row can point into another team.

    A key that was added to a table that stands is named alone, as `model.field`.
    """

    reduces_to_sql = True
    reversible = True

    def __init__(self, *models: str) -> None:
        self.models = models

    def deconstruct(self) -> tuple[str, list[str], dict[str, Any]]:
        return self.__class__.__qualname__, list(self.models), {}

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Change no model: the law lives in the database alone."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        for name, table, column, target in self._keys(app_label, to_state):
            quote = schema_editor.quote_name
            schema_editor.execute(
                ADD.format(table=quote(table), name=quote(name), column=quote(column), target=quote(target))
            )

    def database_backwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        for name, table, _column, _target in self._keys(app_label, from_state):
            quote = schema_editor.quote_name
            schema_editor.execute(f"ALTER TABLE {quote(table)} DROP CONSTRAINT IF EXISTS {quote(name)}")

    def describe(self) -> str:
        return "Keys that cannot cross a team: " + ", ".join(self.models)

    def _keys(self, app_label: str, state: ProjectState) -> list[tuple[str, str, str, str]]:
        found = []
        for label in self.models:
            name, _, only = label.partition(".")
            model = state.apps.get_model(app_label, name)
            for field in model._meta.local_fields:
                if isinstance(field, TEAM_KEYS) and only in ("", field.name):
                    table = model._meta.db_table
                    name = f"{table}_{field.column}_in_team"[:63]
                    found.append((name, table, field.column, field.related_model._meta.db_table))
        return found
