"""What mutation runs need: settings of Hypothesis, and the report."""
