"""Cases from bug reports: retold requests, scripted models and what must come of them, run through the real doors."""
