"""Hypothesis as the mutation runs need it: one process runs every test many times, and each run must say the same."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "mutants",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=30,
    suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
)
settings.load_profile("mutants")
