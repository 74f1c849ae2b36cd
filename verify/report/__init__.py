"""The report of a verification: its record, a terminal table, JSON, and a self-contained page."""
