"""A room as somebody outside would add it: notes that rest on memories."""
