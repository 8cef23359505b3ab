"""The one way out: every answer that ranks memories comes from here."""
