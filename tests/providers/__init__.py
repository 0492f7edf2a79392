"""One suite that every provider passes, and a local server that misbehaves on command."""
