"""A space as a folder of Markdown files, and such a folder into a space (003, Files).

The folder is another form of the records of an export. ``*_form`` modules are pure: the value of a
line to the text of a file, and back.
"""
