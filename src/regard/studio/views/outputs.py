"""Outputs of a model with attention under edits, whatever it makes of a text, and the attention over them."""

from collections.abc import Callable, Sequence
from math import exp

import torch

from regard.decoding.session import GenerationJob, GenerationSession
from regard.decoding.steppers.interface import Hypothesis, Request
from regard.decoding.tree import mask_predict_passes
from regard.errors import ConfigError
from regard.inspection.interventions import Edit, edited
from regard.models.base.protocols import is_conditional_masked
from regard.nn.probes.trace import Trace
from regard.pipelines.base import AnyPipeline
from regard.pipelines.encoder import Encoder
from regard.pipelines.generation import GeneratingPipeline
from regard.studio.messages import InputRequest, StudioMessage
from regard.studio.views.gates import model_pass, sides_of
from regard.studio.views.heads import prediction_of, row_of
from regard.studio.views.models import body_of, generating, source_tokenizer_of, tokenizer_of
from regard.studio.views.tree import OptionValue, prepared
from regard.tasks.finetune.pipeline import HeadPipeline
from regard.text.readable import readable

GREEDY: dict[str, OptionValue] = {"method": "beam", "beam_size": 1}
PARALLEL: dict[str, OptionValue] = {"collapse_repeats": False}
"""Every token of the output has a probability of its own."""
SHOWN = 8
"""Labels listed of a model with a head."""
Weights = dict[str, torch.Tensor]
Weighed = Callable[[], Trace]
"""Returns the weights that a model has attended with: they take a pass of their own, where they are shown."""


class EditedOutput(StudioMessage):
    """The output: greedy search, filled masks, or the prediction of a head."""

    text: str
    tokens: list[str]
    """Its tokens; of masks the token of each; of a head its labels, or the tag of each word."""
    probabilities: list[float]
    """Of each token, label or tag; empty for a regression."""


class EditedInput(InputRequest):
    """An input, and the length of a language model's output."""

    max_new_tokens: int = 40


def output_of(pipeline: AnyPipeline, given: EditedInput, edits: Sequence[Edit]) -> tuple[EditedOutput, Weighed]:
    """Return the output of the edited model, and what returns the weights that it attends with."""
    if isinstance(pipeline, GeneratingPipeline):
        if is_conditional_masked(generating(pipeline).model):
            return _translated_in_parallel(pipeline, given, edits)
        return _generated(pipeline, given, edits)
    recorded: Weights = {}
    with edited(body_of(pipeline), edits, recorded):
        output, tokens = _predicted(pipeline, given)
    return output, (lambda: _trace({"text": tokens}, recorded))


def _generated(pipeline: AnyPipeline, given: EditedInput, edits: Sequence[Edit]) -> tuple[EditedOutput, Weighed]:
    has_source = hasattr(pipeline, "source_tokenizer")
    limit: dict[str, OptionValue] = {} if has_source else {"max_new_tokens": given.max_new_tokens}
    job, one = prepared(pipeline, given.text, GREEDY | limit, [])
    with edited(pipeline.model, edits):
        best = _searched(job, one)
    tokenizer, values = tokenizer_of(pipeline), best.token_log_probabilities
    ids = [*best.ids, tokenizer.eos_id][: len(values)]  # those of EOS are there if the output has ended
    output = EditedOutput(
        text=tokenizer.decode(best.ids),
        tokens=readable(tokenizer.tokens(ids)),
        probabilities=[min(1.0, exp(each)) for each in values],
    )
    return output, (lambda: _traced(pipeline, given.text, best.ids, edits))


def _searched(job: GenerationJob, one: Request) -> Hypothesis:
    """Return the output of a search step by step, which probes can change on any device."""
    session = GenerationSession(job, [one])
    (running,) = session.running
    with job.working(1):
        while not session.is_done:
            session.step()
    return running.hypotheses[0]


def _translated_in_parallel(
    pipeline: AnyPipeline, given: EditedInput, edits: Sequence[Edit]
) -> tuple[EditedOutput, Weighed]:
    job, one = prepared(pipeline, given.text, PARALLEL, [])
    tokenizer = tokenizer_of(pipeline)
    with edited(pipeline.model, edits, is_repeated=True):
        best = mask_predict_passes(job, one)[1][0]
    output = EditedOutput(
        text=tokenizer.decode(best.ids),
        tokens=readable(tokenizer.tokens(best.ids)),
        probabilities=[min(1.0, exp(each)) for each in best.token_log_probabilities[: len(best.ids)]],
    )
    return output, (lambda: _traced(pipeline, given.text, best.ids, edits))


def _traced(pipeline: AnyPipeline, text: str, content: list[int], edits: Sequence[Edit]) -> Trace:
    """Return the weights that the edited model attends with, over an output of it."""
    tokenizer = tokenizer_of(pipeline)
    _, read = sides_of(pipeline, InputRequest(model="", text=text), "")
    if "source" in read:
        is_parallel = is_conditional_masked(pipeline.model)
        ended = [*content, tokenizer.eos_id]
        read["target"] = ended if is_parallel else [tokenizer.bos_id, *content]
        tokens = {
            "source": source_tokenizer_of(pipeline).tokens(read["source"]),
            "target": tokenizer.tokens(ended),
            "input": tokenizer.tokens(read["target"]),
        }
    else:
        read["text"] = [*read["text"], *content]
        tokens = {"text": tokenizer.tokens(read["text"])}
    recorded: Weights = {}
    with edited(pipeline.model, edits, recorded):
        model_pass(pipeline, read)
    return _trace(tokens, recorded)


def _predicted(pipeline: AnyPipeline, given: EditedInput) -> tuple[EditedOutput, list[str]]:
    """Return the output of an encoder or of a head, and the tokens of its first sequence."""
    if isinstance(pipeline, Encoder):
        result = pipeline.fill(given.text, top=1)
        best = [each[0] for each in result.masks]
        output = EditedOutput(
            text=result.filled,
            tokens=readable([each.token for each in best]),
            probabilities=[each.probability for each in best],
        )
        return output, pipeline.tokenizer.tokens(sides_of(pipeline, given, None)[1]["text"])
    if not isinstance(pipeline, HeadPipeline):
        raise ConfigError("model: this one has no attention to change; choose another model.")
    row = row_of(pipeline, given.fields, given.choices)
    view = prediction_of(pipeline([row])[0])
    listed = [(each.tag, each.probability) for each in view.words]
    listed = listed or [(each.label, each.value) for each in view.labels[:SHOWN]]
    output = EditedOutput(
        text=view.output, tokens=[name for name, _ in listed], probabilities=[value for _, value in listed]
    )
    return output, sides_of(pipeline, given, None)[0]["text"]


def _trace(tokens: dict[str, list[str]], recorded: Weights) -> Trace:
    return Trace(tokens, {name: each.numpy() for name, each in recorded.items()})
