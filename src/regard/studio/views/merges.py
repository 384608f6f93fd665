"""Byte-pair merges applied to a word, step by step."""

from regard.errors import ConfigError
from regard.pipelines.base import AnyPipeline
from regard.studio.messages import ModelRequest, StudioMessage
from regard.studio.views.models import source_tokenizer_of
from regard.text.bpe_merges import merges_of

LONGEST = 200


class MergesRequest(ModelRequest):
    """A word, or a few."""

    word: str


class MergeStep(StudioMessage):
    """One merge: the pair, its rank among those that were learned, and the tokens after it."""

    left: str
    right: str
    rank: int
    tokens: list[str]


class MergedWord(StudioMessage):
    """The characters of a word, and its merges."""

    characters: list[str]
    steps: list[MergeStep]


class MergesView(StudioMessage):
    """The words, and how many tokens the vocabulary has."""

    words: list[MergedWord]
    vocabulary: int


def show_merges(pipeline: AnyPipeline, request: MergesRequest) -> MergesView:
    """Return the merges of a word with the tokenizer of a model."""
    tokenizer = source_tokenizer_of(pipeline)
    if not 0 < len(request.word.strip()) <= LONGEST:
        raise ConfigError(f"word: give 1 to {LONGEST} characters.")
    words = [
        MergedWord(
            characters=list(each.characters),
            steps=[
                MergeStep(left=one.left, right=one.right, rank=one.rank, tokens=list(one.tokens))
                for one in each.steps
            ],
        )
        for each in merges_of(tokenizer, request.word)
    ]
    return MergesView(words=words, vocabulary=tokenizer.size)
