"""Results of pipelines as Hugging Face's clients expect them, by pipeline tag."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from regard.pipelines.base import Result
from regard.pipelines.embedding import Embedding
from regard.pipelines.mask_filling import MaskFilling
from regard.pipelines.similarity import Similarity
from regard.server.errors import RequestError
from regard.tasks.answer.pipeline import Answer
from regard.tasks.classify.pipeline import Classification
from regard.tasks.tag.pipeline import Tagging

Parameters = Mapping[str, object]
Json = dict[str, object]


@dataclass(frozen=True)
class PipelineTag:
    """A pipeline tag: how its parameters are options, and its results JSON."""

    options: Mapping[str, str]
    """Options by the names of parameters."""
    answer: Callable[[Sequence[Result], Parameters], object]
    ignored: tuple[str, ...] = ()
    """Parameters that change nothing here."""
    used: tuple[str, ...] = ()
    """Parameters that `answer` looks at."""

    def given(self, parameters: Parameters) -> dict[str, object]:
        """Return the options of parameters; unknown ones are refused in the words that clients expect."""
        unknown = [name for name in parameters if name not in (*self.options, *self.ignored, *self.used)]
        refuse_unused(unknown)
        return {self.options[name]: value for name, value in parameters.items() if name in self.options}


def refuse_unused(names: Sequence[str]) -> None:
    """Refuse parameters that nothing uses, in the words that clients look for."""
    if names:
        listed = ", ".join(f"'{name}'" for name in names)
        raise RequestError(f"The following `model_kwargs` are not used by the model: [{listed}]", names[0])


def translations(results: Sequence[Result], parameters: Parameters) -> object:
    """Return translations."""
    return [{"translation_text": each.text} for each in results]


def fillings(results: Sequence[Result], parameters: Parameters) -> object:
    """Return the tokens of each mask; those of a text with several masks are lists."""
    rows = []
    for result in results:
        assert isinstance(result, MaskFilling)
        masks: list[list[Json]] = [
            [
                {
                    "score": each.probability,
                    "token": each.id,
                    "token_str": each.token.lstrip("▁Ġ"),
                    "sequence": result.filled_with(number, each),
                }
                for each in mask
            ]
            for number, mask in enumerate(result.masks)
        ]
        rows.append(masks[0] if len(masks) == 1 else masks)
    return rows[0] if len(rows) == 1 else rows


def classes(results: Sequence[Result], parameters: Parameters) -> object:
    """Return the labels of each text, the most probable first."""
    count = _count(parameters, "top_k")
    rows = []
    for result in results:
        assert isinstance(result, Classification)
        ranked = sorted(result.probabilities.items(), key=lambda pair: -pair[1])
        rows.append([{"label": label, "score": value} for label, value in ranked[:count]])
    return rows


def entities(results: Sequence[Result], parameters: Parameters) -> object:
    """Return the spans of each text, or with the strategy none its words that have a tag."""
    rows = []
    left_out = parameters.get("ignore_labels", ["O"])
    for result in results:
        assert isinstance(result, Tagging)
        text, ends, position = result.row.text or " ".join(result.words), list[tuple[int, int]](), 0
        for word in result.words:
            begin = text.find(word, position)
            position = begin + len(word)
            ends.append((begin, position))
        if parameters.get("aggregation_strategy") == "none":
            words = zip(result.words, result.tags, result.probabilities, ends, strict=True)
            rows.append(
                [
                    {"entity": tag, "score": value, "word": word, "start": begin, "end": end}
                    for word, tag, value, (begin, end) in words
                    if not isinstance(left_out, list) or tag not in left_out
                ]
            )
            continue
        spans: list[Json] = []
        for span in result.spans:
            begin, end = ends[span.begin][0], ends[span.end - 1][1]
            spans.append(
                {
                    "entity_group": span.kind,
                    "score": span.probability,
                    "word": text[begin:end],
                    "start": begin,
                    "end": end,
                }
            )
        rows.append(spans)
    return rows[0] if len(rows) == 1 else rows


def answers(results: Sequence[Result], parameters: Parameters) -> object:
    """Return the answer of each question, or with top_k above 1 several."""
    rows = []
    for result in results:
        assert isinstance(result, Answer)
        spans = [
            {"answer": each.text, "score": each.probability, "start": each.begin, "end": each.end}
            for each in (result.best, *result.others)
        ]
        rows.append(spans if (_count(parameters, "top_k") or 1) > 1 else spans[0])
    return rows[0] if len(rows) == 1 else rows


def vectors(results: Sequence[Result], parameters: Parameters) -> object:
    """Return the vector of each text."""
    return [each.vector.tolist() for each in results if isinstance(each, Embedding)]


def similarities(results: Sequence[Result], parameters: Parameters) -> object:
    """Return the similarity of each text with the first."""
    return [each.similarity for each in results if isinstance(each, Similarity)]


def _count(parameters: Parameters, name: str) -> int | None:
    value = parameters.get(name)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise RequestError(f"{name}: {value!r} is not a whole number above 0.", name)
    return value


TAGS = {
    "translation": PipelineTag(
        {"num_beams": "beam_size", "max_length": "max_length", "min_length": "min_length"},
        translations,
        ("clean_up_tokenization_spaces", "truncation"),
        ("src_lang", "tgt_lang", "generate_parameters"),
    ),
    "fill-mask": PipelineTag({"top_k": "top", "targets": "candidates"}, fillings),
    "text-classification": PipelineTag({}, classes, ("function_to_apply",), ("top_k",)),
    "token-classification": PipelineTag({}, entities, ("stride",), ("aggregation_strategy", "ignore_labels")),
    "question-answering": PipelineTag(
        {"top_k": "count"},
        answers,
        (
            "align_to_words",
            "doc_stride",
            "handle_impossible_answer",
            "max_answer_len",
            "max_question_len",
            "max_seq_len",
        ),
        (),
    ),
    "feature-extraction": PipelineTag({"normalize": "normalize"}, vectors, ("truncate", "truncation_direction")),
    "sentence-similarity": PipelineTag({}, similarities),
}
"""The tags whose models answer with a result for each row."""
