"""Settings of a data set of the miniature world that is printed."""

from pydantic import Field

from regard.config.settings import Settings


class MiniatureSettings(Settings):
    """A data set of the miniature world, its split and its size."""

    set: str | None = None
    """Data set: pairs (German TAB English), plots, reviews, opinions, paraphrases, likeness, probes (CSV), entities
    (CoNLL), questions (SQuAD JSON), senses (JSON lines), or raw text: stories, news, retellings, mixed (default:
    pairs)."""
    split: str = "train"
    """Split: train, valid, test; for pairs also unseen-pairs, unseen-cases, unseen-depth; for entities also
    unseen-names."""
    count: int = Field(20, ge=1)
    """Number of pairs, stories or examples."""
    seed: int = Field(0, ge=0, lt=2**32)
    """Random seed; splits are disjoint for all seeds."""
    stories: bool = False
    """Print English stories, with a blank line after each."""
