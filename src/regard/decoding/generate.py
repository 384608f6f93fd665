"""Generation entry point: requests in, hypotheses out, by the fastest equivalent implementation."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from regard.decoding.cuda_graphs.beam import Rules, captured_beam_search
from regard.decoding.cuda_graphs.capture import drop_graphs, supports_captured_passes, supports_cuda_graphs
from regard.decoding.cuda_graphs.mask_predict import captured_mask_predict
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.search.mask_predict import mask_predict
from regard.decoding.search.running import NO_NUMBERS, RunningRequest
from regard.decoding.session import GenerationJob, GenerationSession
from regard.decoding.settings import GenerationSettings, MaskPredictDecoding
from regard.decoding.steppers.interface import Hypothesis, Request, padded
from regard.errors import CheckpointError, ConfigError, DataError
from regard.nn.inference.memory import is_out_of_memory, release_memory


def generate(job: GenerationJob, requests: Sequence[Request]) -> list[list[Hypothesis]]:
    """Return the hypotheses of each request: of a search, best first; of sampling, by the number of the sample.

    A batch that runs out of memory is halved and retried.
    """
    try:
        return _together(job, requests)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    for model in job.models:  # outside the handler, whose traceback would keep the failed attempt's tensors alive
        drop_graphs(model)
    release_memory(job.models[0].head.weight.device)
    if len(requests) == 1:
        settings, fewer = job.settings, "length_candidates"
        if isinstance(settings, GenerationSettings):
            fewer = "beam_size" if settings.method == "beam" else "num_samples"
        raise DataError(
            f"Out of memory on a single text of {len(requests[0].ids):,} tokens with {settings.hypotheses} "
            f"hypotheses; split or shorten it, or use a smaller {fewer}."
        )
    half = len(requests) // 2
    return [*generate(job, requests[:half]), *generate(job, requests[half:])]


def stream(job: GenerationJob, request: Request, lock: Callable[[], AbstractContextManager[object]]) -> Iterator[str]:
    """Return an iterator over the text of one output in chunks; between two steps the models are free for others."""
    count = job.settings.num_samples if isinstance(job.settings, GenerationSettings) else 1
    if count > 1:
        raise ConfigError(f"num_samples: {count} samples cannot be streamed together; ask for one, or call.")

    def chunks() -> Iterator[str]:
        session = GenerationSession(job, [request], is_streamed=True)
        (running,) = session.running
        while not running.is_done:
            with lock(), job.working(1):
                session.step()
            if running.chunk:
                yield running.chunk

    return chunks()


def _together(job: GenerationJob, requests: Sequence[Request]) -> list[list[Hypothesis]]:
    is_mask_predict = isinstance(job.settings, MaskPredictDecoding)
    longest = max(len(request.ids) for request in requests) if is_mask_predict else 1
    with job.working(len(requests), longest):
        if is_mask_predict:
            return _mask_predict(job, requests)
        running = _captured_search(job, requests)
        if running is None:
            session = GenerationSession(job, requests)
            running = session.running
            while not session.is_done:
                session.step()
    return [each.hypotheses for each in running]


def _mask_predict(job: GenerationJob, requests: Sequence[Request]) -> list[list[Hypothesis]]:
    (model, *_), settings = job.models, job.settings
    assert isinstance(settings, MaskPredictDecoding), "asked before"
    source, token_mask = padded(requests, 0, model.head.weight.device, is_left=False)
    hypotheses = None
    if supports_captured_passes(model):
        hypotheses = captured_mask_predict(model, source, token_mask, job.ends, settings)
    if hypotheses is None:
        hypotheses = mask_predict(model, source, token_mask, job.ends, settings)
    if not all(hypotheses):
        raise CheckpointError(NO_NUMBERS)
    return hypotheses


def _captured_search(job: GenerationJob, requests: Sequence[Request]) -> list[RunningRequest] | None:
    """Return the requests, all done, of a search in CUDA graphs; None where it does not apply."""
    (model, *others), settings = job.models, job.settings
    assert isinstance(settings, GenerationSettings), "asked before"
    if others or settings.method == "sample" or not supports_cuda_graphs(model):
        return None
    processor = LogitsProcessor(settings, job.ends, model.head.weight)
    rules = Rules.of(processor, requests, model.head.weight.size(0))
    return None if rules is None else captured_beam_search(model, requests, processor, rules)
