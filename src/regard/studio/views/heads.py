"""Masked words and heads: candidates of masks, next-sentence probability, outputs of heads, influence of words."""

import re
from collections.abc import Callable, Sequence

import torch

from regard.errors import ConfigError
from regard.pipelines.base import AnyPipeline
from regard.pipelines.encoder import Encoder
from regard.studio.messages import ModelRequest, StudioMessage, TokenCandidate
from regard.tasks.answer.pipeline import Answer
from regard.tasks.choose.pipeline import ChoiceResult, MultipleChoice
from regard.tasks.classify.pipeline import Classification
from regard.tasks.finetune.pipeline import HeadPipeline
from regard.tasks.regress.pipeline import Regression
from regard.tasks.tag.pipeline import Tagger, Tagging
from regard.text.mask_tokens import encode_masked
from regard.text.readable import readable
from regard.text.tokenizer import MASK

WORDS = re.compile(r"\S+")
MOST_WORDS = 200
"""Words whose influence is computed."""


class FillRequest(ModelRequest):
    """A text with masks, and the number of candidates of each."""

    text: str
    top: int = 8


class FillView(StudioMessage):
    """The candidates of each mask, best first."""

    masks: list[list[TokenCandidate]]
    filled: str


class NextSentenceRequest(ModelRequest):
    """Two texts."""

    first: str
    second: str


class NextSentenceView(StudioMessage):
    """The probability that the second text follows the first; None: the model has no such head."""

    probability: float | None


class PredictRequest(ModelRequest):
    """The fields of a row: text, second; question, context; context, choices."""

    fields: dict[str, str]
    choices: tuple[str, ...] = ()


class Labeled(StudioMessage):
    """A label, choice, answer or tag with its probability, or a number."""

    label: str
    value: float


class WordInfluence(StudioMessage):
    """A word of a field, and how much lower the value of the output is without it."""

    field: str
    word: str
    begin: int
    end: int
    influence: float


class TaggedWord(StudioMessage):
    """A word with its tag and the tag's probability."""

    word: str
    tag: str
    probability: float


class PredictView(StudioMessage):
    """The output of a head."""

    output: str
    value: float
    """Its probability; the number, of a regression."""
    is_probability: bool
    labels: list[Labeled]
    words: list[TaggedWord]
    influence: list[WordInfluence]
    begin: int | None
    end: int | None
    """The span of an answer in the context."""
    mix: dict[str, float] | None
    """The weights of the layers, of an ELMo."""
    fields: list[str]


class FieldsRequest(ModelRequest):
    """A model."""


class FieldsView(StudioMessage):
    """The fields of a row that a model with a head takes, and whether it fills masks."""

    fields: list[str]
    fills: bool
    has_next_sentence: bool


def show_fields(pipeline: AnyPipeline, request: FieldsRequest) -> FieldsView:
    """Return what a model of words and heads takes."""
    if isinstance(pipeline, Encoder):
        has_pairs = getattr(pipeline.model, "next_sentence", None) is not None
        fills = pipeline.tokenizer.mask_id is not None and hasattr(pipeline.model, "transform")
        return FieldsView(fields=["text"], fills=fills, has_next_sentence=has_pairs)
    if isinstance(pipeline, HeadPipeline):
        fields = ["text"] if isinstance(pipeline, Tagger) else list(pipeline.inputs[: max(1, pipeline.texts)])
        return FieldsView(fields=fields, fills=False, has_next_sentence=False)
    raise ConfigError(f"{request.model}: this model has neither masks nor a head; choose another one.")


def show_fill(pipeline: AnyPipeline, request: FillRequest) -> FillView:
    """Return the candidates of every mask."""
    if not isinstance(pipeline, Encoder):
        raise ConfigError(f"{request.model}: this model fills no masks; choose a masked language model.")
    result = pipeline.fill(request.text, top=max(1, min(request.top, 50)))
    return FillView(
        masks=[
            [
                TokenCandidate(id=each.id, token=token, probability=each.probability)
                for each, token in zip(mask, readable([one.token for one in mask]), strict=True)
            ]
            for mask in result.masks
        ],
        filled=result.filled,
    )


@torch.inference_mode()
def show_next_sentence(pipeline: AnyPipeline, request: NextSentenceRequest) -> NextSentenceView:
    """Return the probability that one text follows another."""
    if not isinstance(pipeline, Encoder) or getattr(pipeline.model, "next_sentence", None) is None:
        return NextSentenceView(probability=None)
    tokenizer, model = pipeline.tokenizer, pipeline.model
    first = pipeline.with_specials(
        encode_masked(tokenizer, request.first) if MASK in request.first else tokenizer.encode(request.first).ids
    )
    second = [*tokenizer.encode(request.second).ids, tokenizer.eos_id]
    if len(first) + len(second) > pipeline.max_length:
        raise ConfigError(f"first: both texts have more than {pipeline.max_length:,} tokens; shorten them.")
    ids = torch.tensor([[*first, *second]], device=pipeline.device)
    segments = torch.tensor([[0] * len(first) + [1] * len(second)], device=pipeline.device)
    hidden = model.hidden_states(ids, segments)
    logits = model.next_sentence(model.pool(hidden[:, 0])).float()
    return NextSentenceView(probability=float(logits.softmax(-1)[0, 0]))


def show_prediction(pipeline: AnyPipeline, request: PredictRequest) -> PredictView:
    """Return the output of a head, and the influence of every word: the value of the output without it."""
    rows, words = _rows(pipeline, request)
    results = pipeline(rows)
    first = results[0]
    view = prediction_of(first)
    value = _value_of(first)
    influence = [
        WordInfluence(
            field=field, word=match.group(), begin=match.start(), end=match.end(), influence=view.value - value(each)
        )
        for (field, match), each in zip(words, results[1:], strict=True)
    ]
    mix = pipeline.mix if isinstance(pipeline, HeadPipeline) else None
    return view.model_copy(update={"influence": influence, "mix": mix, "fields": list(request.fields)})


def row_of(pipeline: AnyPipeline, fields: dict[str, str], choices: Sequence[str]) -> dict[str, object]:
    """Return the row of a model with a head."""
    return {**fields, **({"choices": list(choices)} if isinstance(pipeline, MultipleChoice) else {})}


def _rows(
    pipeline: AnyPipeline, request: PredictRequest
) -> "tuple[list[dict[str, object]], list[tuple[str, re.Match[str]]]]":
    """Return the row and, for each word, the row without it; none for a tagger, whose output is of words."""
    rows = [row_of(pipeline, request.fields, request.choices)]
    words: list[tuple[str, re.Match[str]]] = []
    if isinstance(pipeline, Tagger):
        return rows, words
    for field, text in request.fields.items():
        matches = list(WORDS.finditer(text))
        for match in matches[:MOST_WORDS] if len(matches) > 1 else []:
            words.append((field, match))
            rows.append({**rows[0], field: text[: match.start()] + text[match.end() :]})
    return rows, words


def _value_of(first: object) -> Callable[[object], float]:
    """Return the function of another result that gives the value of the first one's output there."""

    def value(other: object) -> float:
        if isinstance(first, Classification) and isinstance(other, Classification):
            return other.probabilities[first.label]
        if isinstance(first, ChoiceResult) and isinstance(other, ChoiceResult):
            return other.probabilities[first.number]
        if isinstance(first, Answer) and isinstance(other, Answer):
            same = [each.probability for each in (other.best, *other.others) if each.text == first.text]
            return max(same, default=0.0)
        assert isinstance(other, Regression), "the results of one model are of one kind"
        return other.number

    return value


def prediction_of(result: object) -> PredictView:
    """Return the result of a head as the pages show it, without influence."""
    empty: dict[str, object] = {"labels": [], "words": [], "influence": [], "begin": None, "end": None, "mix": None}
    made: dict[str, object] = empty | {"fields": [], "is_probability": True}
    if isinstance(result, Classification):
        made |= {"output": result.label, "value": result.probability}
        made["labels"] = _labeled(list(result.probabilities), list(result.probabilities.values()))
    elif isinstance(result, ChoiceResult):
        made |= {"output": result.choice, "value": result.probability}
        made["labels"] = _labeled(result.row.choices, result.probabilities)
    elif isinstance(result, Answer):
        spans = (result.best, *result.others)
        made |= {"output": result.text, "value": result.probability, "begin": result.best.begin}
        made |= {
            "end": result.best.end,
            "labels": _labeled([each.text for each in spans], [each.probability for each in spans]),
        }
    elif isinstance(result, Tagging):
        words = zip(result.words, result.tags, result.probabilities, strict=True)
        made |= {"output": result.text, "value": min(result.probabilities, default=1.0)}
        made["words"] = [TaggedWord(word=word, tag=tag, probability=p) for word, tag, p in words]
    elif isinstance(result, Regression):
        made |= {"output": result.text, "value": result.number, "is_probability": False}
    else:
        raise ConfigError("predict: this model has no head; choose one that classifies, tags, answers or chooses.")
    return PredictView.model_validate(made)


def _labeled(labels: Sequence[str], values: Sequence[float]) -> list[Labeled]:
    pairs = sorted(zip(labels, values, strict=True), key=lambda each: -each[1])
    return [Labeled(label=label, value=value) for label, value in pairs[:50]]
