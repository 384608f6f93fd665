"""`python -m regard`, which torchrun needs."""

from regard.cli.main import main

main()
