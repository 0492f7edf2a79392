"""Proof that the current rows say what their ledgers say ("Relationship Model And Lifecycle", the current row).

It reads, and writes nothing. It stands above the apps and needs the tables of all of them, which no other module
may import; it takes them from Django's registry of models, so that the rule "tables belong to their app" keeps its
meaning for everybody who could write.
"""

from densemem.audit.report import CheckResult, Difference, Report
from densemem.audit.run import CHECKS, audit

__all__ = ["CHECKS", "CheckResult", "Difference", "Report", "audit"]
