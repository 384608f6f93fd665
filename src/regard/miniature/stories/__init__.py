"""Documents of the miniature world: short stories with consistent people, things, places and times."""

from regard.miniature.stories.probes import PROBE_KINDS, StoryProbe, probes_of, story_probes
from regard.miniature.stories.telling import STORY_SPLITS, Story, documents, stories, story

__all__ = [
    "PROBE_KINDS",
    "STORY_SPLITS",
    "Story",
    "StoryProbe",
    "documents",
    "probes_of",
    "stories",
    "story",
    "story_probes",
]
