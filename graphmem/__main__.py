"""``python -m graphmem``: the command line."""

from graphmem.cli import main

if __name__ == "__main__":
    main()
