"""One audit: every check over every row, on one snapshot of the database."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

from django.db import connection, transaction

from densemem.audit import conflicts, derived, evidence, knowledge, order, replayed, support, work
from densemem.audit.invariants import INVARIANTS, Invariant, violations
from densemem.audit.report import Check, CheckResult, Difference, Report
from densemem.audit.tables import chunks, rows
from densemem.core.limits import AUDIT_DIFFERENCES

Rule = Invariant | Check
CHECKS: tuple[Rule, ...] = (
    *INVARIANTS,
    *replayed.CHECKS,
    *order.CHECKS,
    *knowledge.CHECKS,
    *derived.CHECKS,
    *conflicts.CHECKS,
    *support.CHECKS,
    *work.CHECKS,
    *evidence.CHECKS,
)
Step = Callable[[str, int], None]


def audit(*, team_id: UUID | None = None, checks: Sequence[Rule] = CHECKS, step: Step | None = None) -> Report:
    """
    Compare the current rows of a team, or of all teams, with their ledgers.

    Workers may write meanwhile: everything is read from one snapshot. Memory is bounded by the rows of one step.

    :param checks: a part of them, to look at one thing alone
    :param step: called after every step with the name of the check and how many rows it compared
    """
    with _snapshot():
        found = {check.name: _hold(check, team_id, step) for check in checks if isinstance(check, Invariant)}
        for table, compared in _by_table(checks).items():
            found |= _walk(table, compared, team_id, step)
        return Report(tuple(found[check.name] for check in checks))


def amount(*, team_id: UUID | None = None) -> int:
    """Return how many rows an audit will compare, counted once for each check."""
    sizes = {table: _rows_of(table, team_id) for table in {check.table for check in CHECKS}}
    return sum(sizes[check.table] for check in CHECKS)


def _rows_of(table: str, team_id: UUID | None) -> int:
    query = rows(table)
    return int((query if team_id is None else query.filter(team_id=team_id)).count())


def _by_table(checks: Sequence[Rule]) -> dict[str, list[Check]]:
    found: dict[str, list[Check]] = defaultdict(list)
    for check in checks:
        if isinstance(check, Check):
            found[check.table].append(check)
    return found


def _walk(table: str, checks: Sequence[Check], team_id: UUID | None, step: Step | None) -> dict[str, CheckResult]:
    """Read a table once, for all checks that compare its rows."""
    compared, counted = 0, Counter[str]()
    shown: dict[str, list[Difference]] = {check.name: [] for check in checks}
    for chunk in chunks(table, team_id=team_id):
        compared += len(chunk)
        for check in checks:
            for difference in check.compare(chunk):
                counted[check.name] += 1
                if counted[check.name] <= AUDIT_DIFFERENCES:
                    shown[check.name].append(difference)
            if step:
                step(check.name, len(chunk))
    return {name: CheckResult(name, compared, counted[name], tuple(listed)) for name, listed in shown.items()}


def _hold(law: Invariant, team_id: UUID | None, step: Step | None) -> CheckResult:
    compared, found = _rows_of(law.table, team_id), list(violations(law, team_id=team_id))
    if step:
        step(law.name, compared)
    return CheckResult(law.name, compared, len(found), tuple(found[:AUDIT_DIFFERENCES]))


@contextmanager
def _snapshot() -> Iterator[None]:
    """Read everything as it was at one moment. Inside another transaction its own view is all there is."""
    nested = connection.in_atomic_block
    with transaction.atomic():
        if not nested:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield
