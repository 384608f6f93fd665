"""The task `tag`: a tag for each word of a sentence."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.checkpoint.facts import TaskFiles
from regard.data.settings.examples import TagSource
from regard.data.sources.conll import read_tagged_with_columns
from regard.data.sources.memory import LIST
from regard.data.sources.tagged_tables import TaggedRow
from regard.errors import DataError
from regard.metrics.bootstrap import Numbers, Statistic
from regard.metrics.classification import label_scores
from regard.metrics.spans import OUTSIDE, entities, marks_spans, span_scores, span_statistics
from regard.models.base.family import Kind
from regard.pipelines.head_scores import Scores, mean_nll, softmax
from regard.progress import SILENT, Progress
from regard.tasks.baseline import label_baseline
from regard.tasks.declarations import InitFrom, LoadOptions, Metric, Operation, Wording
from regard.tasks.finetune.base import Columns, HeadTask, Settings
from regard.tasks.finetune.labels import check_labels
from regard.tasks.finetune.pipeline import template_of
from regard.tasks.finetune.predictions import ErrorExample, Predictions, ScoreName
from regard.tasks.finetune.records import LabelFacts
from regard.tasks.settings import FINE_TUNING_RATES
from regard.tasks.tag.pipeline import Tagger, Tagging, TagOptions, WordsRow, sentence_scores
from regard.tasks.tag.settings import TagSettings

if TYPE_CHECKING:
    from regard.checkpoint.bundle import Bundle
    from regard.data.encoding.tagged import EncodedTags

KINDS: tuple[Kind, ...] = ("encoder", "bidirectional-lm", "embeddings")


class Tag(HeadTask[TaggedRow, LabelFacts, Tagger]):
    """Token classification; where the tags mark spans, these are scored."""

    name, preset, head = "tag", "bert-mini", "token-classification"
    wording = Wording("a tagger", "taggers", "--data FILE")
    files = TaskFiles(
        LabelFacts, KINDS, ("token-classification",), (frozenset({"tokenizer"}), frozenset({"tokenizer", "words"}))
    )
    rows = ({"words": LIST, "tags": LIST},)
    facts, run_settings, source = LabelFacts, TagSettings, TagSource
    metrics = (
        Metric("f1", "F1", is_validated=True),
        Metric("precision", "precision"),
        Metric("recall", "recall"),
        Metric("accuracy", "accuracy", is_validated=True),
    )
    score_names = (ScoreName("f1", "F1 %", "conlleval"), ScoreName("accuracy", "word accuracy %"))
    operations = (
        Operation(
            "tag",
            "Tag words.",
            WordsRow,
            ("text", "words"),
            TagOptions,
            Tagging,
            protocols=("huggingface:token-classification",),
            formats=(".conll", ".conllu", ".iob", ".bio", ".iob2"),
            arguments="TEXT",
            example='"Your text."',
            call='tagger("Your text.").spans',
            variable="tagger",
        ),
    )
    init_from = InitFrom({kind: FINE_TUNING_RATES[kind] for kind in KINDS}, has_new_head=True)
    unit = "sentence"
    no_examples = "no sentence has words and tags."
    truncation = "each is split into chunks without context from each other"

    def read(self, source: TagSource, progress: Progress, columns: Columns) -> tuple[list[TaggedRow], dict[str, Any]]:
        """Return the sentences of a source, and the columns of its table."""
        return read_tagged_with_columns(source, progress, usual=columns)

    def reason_to_drop(self, example: TaggedRow) -> str | None:
        """Return None: no sentence is dropped."""
        return None

    def texts(self, example: TaggedRow) -> tuple[str, ...]:
        """Return the words as one text."""
        return (" ".join(example.words),)

    def target(self, example: TaggedRow) -> str:
        """Return the tags."""
        return " ".join(example.tags)

    def label_counts(self, examples: Sequence[TaggedRow]) -> Counter[str]:
        """Return the number of spans of each kind; of words with each tag where tags mark no spans."""
        if marks_spans(tag for each in examples for tag in each.tags):
            return Counter(span.kind for each in examples for span in entities(each.tags))
        return Counter(tag for each in examples for tag in each.tags)

    def baseline(self, examples: Sequence[TaggedRow], encoded: "EncodedTags") -> dict[str, float]:
        """Return the accuracy and loss of predicting the tags by frequency alone, and the F1 of spans: 0."""
        counts = Counter(tag for each in examples for tag in each.tags)
        level = label_baseline(counts)
        return {"f1": 0.0} | level if level and marks_spans(iter(counts)) else level

    def labels(self, train: Sequence[TaggedRow], name: str) -> list[str]:
        """Return the tags, in order: B- and I- of every kind of span, even if only one occurs."""
        tags = {tag for each in train for tag in each.tags}
        if len(tags) == 1:
            raise DataError(
                f'{name}: every word has the tag "{tags.pop()}", so there is nothing to distinguish; give others.'
            )
        if marks_spans(tags):
            kinds = sorted({tag.partition("-")[2] for tag in tags - {OUTSIDE}})
            return [OUTSIDE, *(f"{mark}-{kind}" for kind in kinds for mark in "BI")]
        return sorted(tags)

    def learn(
        self, settings: Settings, train: Sequence[TaggedRow], labels: Sequence[str], pretrained: "Bundle | None"
    ) -> dict[str, Any]:
        """Return the tags."""
        return {"labels": list(labels)}

    def check_rows(self, name: str, examples: Sequence[TaggedRow], facts: LabelFacts) -> None:
        """Refuse tags that the training set does not have."""
        check_labels(name, Counter(tag for each in examples for tag in each.tags), facts.labels)

    def outputs(self, facts: LabelFacts) -> int:
        """Return the number of tags."""
        return len(facts.labels)

    def encode(self, examples: Sequence[TaggedRow], bundle: "Bundle", progress: Progress = SILENT) -> "EncodedTags":
        """Return sentences as ids."""
        from regard.data.encoding.tagged import encode_tagged

        facts = self.read_facts(bundle)
        ids = facts.label_ids
        return encode_tagged(
            [each.words for each in examples],
            [[ids[tag] for tag in each.tags] for each in examples],
            bundle.tokenizers["tokenizer"],
            template_of(bundle),
            facts.max_length,
            progress,
        )

    def predictions(
        self, examples: Sequence[TaggedRow], encoded: "EncodedTags", outputs: list[Scores], facts: LabelFacts
    ) -> Predictions:
        """Return the most probable tags of each sentence; its confidence is the lowest probability among them."""
        probabilities = [softmax(each) for each in sentence_scores(encoded, outputs, len(examples))]
        lines = [" ".join(facts.labels[number] for number in each.argmax(1)) for each in probabilities]
        confidence = [float(each.max(1).min()) for each in probabilities]
        return Predictions(lines, confidence, mean_nll(list(np.concatenate(probabilities)), encoded.labels.ids))

    def compute_metrics(
        self, examples: Sequence[TaggedRow], predictions: Predictions, facts: LabelFacts
    ) -> dict[str, Any]:
        """Return the metrics of spans, in total and by kind; of tags where there are no spans."""
        truth, predicted = [each.tags for each in examples], [line.split(" ") for line in predictions.lines]
        if marks_spans(facts.labels):
            spans = span_scores(truth, predicted)
            total = {name: getattr(spans.all, name) for name in ("f1", "precision", "recall")}
            kinds = [{"label": each.kind} | asdict(each) for each in spans.kinds]
            return {**total, "accuracy": spans.accuracy, "spans": spans.all.count, "classes": kinds}
        ids = facts.label_ids
        true_ids, predicted_ids = (
            [ids[tag] for tags in sentences for tag in tags] for sentences in (truth, predicted)
        )
        scores = label_scores(true_ids, predicted_ids, facts.labels)
        classes = [asdict(each) for each in scores.classes]
        return {"f1": scores.macro_f1, "accuracy": scores.accuracy, "words": len(true_ids), "classes": classes}

    def statistics_of(
        self, examples: Sequence[TaggedRow], lines: Sequence[str], facts: LabelFacts
    ) -> dict[str, Statistic]:
        """Return the metrics as functions of how often each sentence counts."""
        truth, predicted = [each.tags for each in examples], [line.split(" ") for line in lines]
        pairs = [(sum(a == b for a, b in zip(*each, strict=True)), len(each[0])) for each in zip(truth, predicted)]
        counted = np.array(pairs, float).reshape(-1, 2)

        def accuracy(counts: Numbers) -> float:
            correct, words = counts @ counted
            return float(correct / words)

        spans = span_statistics(truth, predicted) if marks_spans(facts.labels) else {}
        return {**spans, "accuracy": accuracy}

    def error(self, example: TaggedRow, line: str, confidence: float) -> ErrorExample:
        """Return a sentence with a wrong tag; true and predicted are listed as spans."""
        if not marks_spans([*example.tags, *line.split(" ")]):
            return super().error(example, line, confidence)
        listed = lambda tags: "; ".join(
            f"{' '.join(example.words[begin:end])} ({kind})" for kind, begin, end in entities(tags)
        )
        return ErrorExample(
            [" ".join(example.words)], listed(example.tags) or "-", listed(line.split(" ")) or "-", confidence
        )

    def constant(self, outputs: Sequence[str]) -> str:
        """Return the sentence on words that all have the same tag; empty if they have not."""
        tags = {tag for line in outputs for tag in line.split(" ")}
        is_constant = len(tags) == 1 and len(outputs) > 1
        return f'every word of {len(outputs):,} sentences is tagged "{tags.pop()}"' if is_constant else ""

    def pipeline(self, bundle: "Bundle", options: LoadOptions) -> Tagger:
        """Return a tagger."""
        return Tagger(bundle)


TASK = Tag()
