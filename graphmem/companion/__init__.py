"""The companion (001): personas that remember their users, in sessions, summaries and todos."""
