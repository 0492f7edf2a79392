"""Measurements of quality on labelled data; nothing here is used at run time."""
