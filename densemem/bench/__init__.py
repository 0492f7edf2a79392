"""How much the memory holds: load on the real doors and workers, measured beside a calibration of the machine."""
