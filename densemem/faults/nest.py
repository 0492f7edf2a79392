"""What the fork server loads once, so that each worker begins as a copy of a whole product with short leases."""

import os
from importlib import import_module

import django

from densemem.core import limits
from densemem.faults.workers import SHORT

vars(limits).update(SHORT)  # before anything has read them
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "densemem.settings")
django.setup()
import_module("densemem.faults.worker").warm()
