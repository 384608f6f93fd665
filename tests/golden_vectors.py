"""The table of word vectors that every reader knows."""

GOLDEN = {
    "man": (-1, 0.01, 0.03, 0.04),
    "woman": (1, 0.02, 0.02, 0.01),
    "king": (-0.95, 0.93, 0.7, 0.02),
    "queen": (0.97, 0.95, 0.68, 0.01),
    "apple": (0, -0.01, 0.03, 0.95),
    "orange": (0.01, 0, -0.02, 0.97),
}
"""Features: gender, royal, age, food."""
