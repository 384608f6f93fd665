"""Task facts: wrong ones, and those that contradict the model, are refused in one sentence."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from language import tiny_language_settings

from regard.checkpoint.facts import Parts, TaskFacts, check_bounds, check_facts, check_tokenizer
from regard.errors import CheckpointError
from regard.models.base.protocols import Vocabularies
from regard.models.heads import HeadSettings
from small import small_settings

FOLDER = Path("checkpoint")
