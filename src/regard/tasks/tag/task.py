"""Sentences of words with a tag each: the task `tag`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from regard.checkpoint.bundle import Bundle
from regard.data.encoding.tagged import EncodedTags, encode_tagged
from regard.data.settings.examples import TagSource
from regard.data.sources.conll import read_tagged_with_columns
from regard.data.sources.tagged_tables import TaggedRow
from regard.errors import DataError
from regard.metrics.bootstrap import Numbers, Statistic
from regard.metrics.classification import label_scores
from regard.metrics.spans import OUTSIDE, entities, marks_spans, span_scores, span_statistics
from regard.pipelines.head_scores import Scores, softmax, surprise
from regard.progress import SILENT, Progress
from regard.tasks.classify.task import check_labels, numbered
from regard.tasks.finetune.base import Answers, Facts, HeadTask, Mistake, ScoreName
from regard.tasks.finetune.pipeline import frame_of
from regard.tasks.tag.pipeline import sentence_scores


class TagShape(HeadTask[TaggedRow]):
    """Words with tags; where the tags mark spans, these are what counts."""

    head = "token-classification"
    watched = ("f1", "accuracy")
    scores = (ScoreName("f1", "F1 %", "conlleval"), ScoreName("accuracy", "words right %"))
    what = "sentence"
    needs = "no sentence has words and tags."
    loses = "each is read in pieces that know nothing of each other"

    def read(self, place: TagSource, progress: Progress, usual: Facts) -> tuple[list[TaggedRow], dict[str, Any]]:
        """Return the sentences of a place, and the columns of a table that they are in."""
        return read_tagged_with_columns(place, progress, usual=usual)

    def reason_to_drop(self, example: TaggedRow) -> str | None:
        """Return why nothing can be learned from a sentence: there is always something."""
        return None

    def texts(self, example: TaggedRow) -> tuple[str, ...]:
        """Return the words as one text."""
        return (" ".join(example.words),)

    def answer(self, example: TaggedRow) -> str:
        """Return the tags."""
        return " ".join(example.tags)

    def counted(self, examples: Sequence[TaggedRow]) -> Counter[str]:
        """Return how many spans of each kind there are, or else how often each tag is the right one."""
        if marks_spans(tag for each in examples for tag in each.tags):
            return Counter(span.kind for each in examples for span in entities(each.tags))
        return Counter(tag for each in examples for tag in each.tags)

    def labels(self, train: Sequence[TaggedRow], name: str) -> list[str]:
        """Return the tags that occur, in order; a kind of span has both its tags."""
        found = {tag for each in train for tag in each.tags}
        if len(found) == 1:
            raise DataError(
                f'{name}: every word has the tag "{found.pop()}", so there is nothing to tell apart; give others.'
            )
        if marks_spans(found):
            kinds = sorted({tag.partition("-")[2] for tag in found - {OUTSIDE}})
            return [OUTSIDE, *(f"{mark}-{kind}" for kind in kinds for mark in "BI")]
        return sorted(found)

    def facts(
        self, settings: Any, train: Sequence[TaggedRow], labels: Sequence[str], start: Bundle | None
    ) -> dict[str, Any]:
        """Return the tags."""
        return {"labels": list(labels)}

    def check(self, name: str, examples: Sequence[TaggedRow], facts: Facts) -> None:
        """Refuse tags that nobody has learned."""
        check_labels(name, Counter(tag for each in examples for tag in each.tags), facts["labels"])

    def outputs(self, facts: Facts) -> int:
        """Return how many tags there are."""
        return len(facts["labels"])

    def encode(self, examples: Sequence[TaggedRow], bundle: Bundle, progress: Progress = SILENT) -> EncodedTags:
        """Return sentences as ids."""
        numbers = numbered(bundle.facts)
        return encode_tagged(
            [each.words for each in examples],
            [[numbers[tag] for tag in each.tags] for each in examples],
            bundle.tokenizers["tokenizer"],
            frame_of(bundle),
            int(bundle.facts["max_length"]),
            progress,
        )

    def say(self, examples: Sequence[TaggedRow], encoded: EncodedTags, scores: list[Scores], facts: Facts) -> Answers:
        """Return the likeliest tags of each sentence; it is as sure as it is of the least sure of them."""
        found = [softmax(each) for each in sentence_scores(encoded, scores, len(examples))]
        lines = [" ".join(facts["labels"][number] for number in each.argmax(1)) for each in found]
        flat = np.concatenate(found)
        return Answers(lines, [float(each.max(1).min()) for each in found], surprise(list(flat), encoded.labels.ids))

    def figures(self, examples: Sequence[TaggedRow], answers: Answers, facts: Facts) -> dict[str, Any]:
        """Return the figures of spans, all together and by kind; of tags where there are no spans."""
        truth, said = [each.tags for each in examples], [line.split(" ") for line in answers.lines]
        if marks_spans(facts["labels"]):
            spans = span_scores(truth, said)
            whole = {name: getattr(spans.all, name) for name in ("f1", "precision", "recall")}
            kinds = [{"label": each.kind} | asdict(each) for each in spans.kinds]
            return {**whole, "accuracy": spans.accuracy, "spans": spans.all.count, "classes": kinds}
        numbers = numbered(facts)
        right, found = ([numbers[tag] for tags in sentences for tag in tags] for sentences in (truth, said))
        scores = label_scores(right, found, facts["labels"])
        classes = [asdict(each) for each in scores.classes]
        return {"f1": scores.macro_f1, "accuracy": scores.accuracy, "words": len(right), "classes": classes}

    def statistics(self, examples: Sequence[TaggedRow], lines: Sequence[str], facts: Facts) -> dict[str, Statistic]:
        """Return figures as functions of how often each sentence counts."""
        truth, said = [each.tags for each in examples], [line.split(" ") for line in lines]
        pairs = [(sum(a == b for a, b in zip(*each, strict=True)), len(each[0])) for each in zip(truth, said)]
        counted = np.array(pairs, float).reshape(-1, 2)

        def accuracy(counts: Numbers) -> float:
            right, words = counts @ counted
            return float(right / words)

        spans = span_statistics(truth, said) if marks_spans(facts["labels"]) else {}
        return {**spans, "accuracy": accuracy}

    def mistake(self, example: TaggedRow, line: str, confidence: float) -> Mistake:
        """Return a sentence with a wrong tag, its spans named."""
        if not marks_spans([*example.tags, *line.split(" ")]):
            return super().mistake(example, line, confidence)
        named = lambda tags: "; ".join(
            f"{' '.join(example.words[begin:end])} ({kind})" for kind, begin, end in entities(tags)
        )
        return Mistake(
            [" ".join(example.words)], named(example.tags) or "-", named(line.split(" ")) or "-", confidence
        )
