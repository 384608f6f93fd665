"""Entry point of `regard` and of `python -m regard`, which torchrun needs."""

import sys


def main() -> None:
    """Import and run the command line; Ctrl-C during the import exits with status 130, too."""
    try:
        from regard.cli.streams import open_closed_streams

        open_closed_streams()
        from regard.cli.main import main as run
    except KeyboardInterrupt:
        sys.stderr.write("regard: stopped.\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
