"""What the memory survives: faults brought on by command, many times, with the laws checked after each ("Bars", B2).

A fault is broken into rounds. All that is left to chance in a round comes from its seed and its number, so that one
round can be run again alone. Workers are real processes, and they are stopped and killed by real signals.
"""
