"""Building blocks of cards, reports and plots: Markdown and matplotlib."""
