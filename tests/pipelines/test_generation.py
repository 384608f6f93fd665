"""Generating pipelines: calls, streams and sessions make the same requests and results."""

import pytest

import regard
from generators import small_generator, tokenizer_of
from regard import miniature
from regard.decoding.generate import generate
from regard.decoding.session import GenerationSession
from regard.decoding.settings import TextDecoding
from regard.errors import ConfigError, DataError
from regard.pipelines.generation import GeneratingPipeline, decoding_options, decoding_part
from regard.tasks.language_model.options import PromptRow, TextOptions
from regard.tasks.translate.options import MaskPredictOptions, SourceRow, TranslateOptions

SENTENCES = [pair.source for pair in miniature.pairs("test", 6)]


@pytest.fixture(scope="module")
def generator():
    return small_generator(tokenizer_of("byte-level"), generate={"max_new_tokens": 12})


@pytest.fixture(scope="module")
def translator(quick_run):
    return regard.load(quick_run.best, device="cpu")


def served(pipeline, rows, overrides):
    """Return the results of rows as a server gets them: each is admitted one step after the one before."""
    options = pipeline.options(**overrides)
    job, results = pipeline.job(options), {}
    requests = [pipeline.request(row, options, number, f"line {number}") for number, row in enumerate(rows, 1)]
    session, waiting, running = GenerationSession(job), list(enumerate(requests)), {}
    while waiting or not session.is_done:
        if waiting:
            place, request = waiting.pop(0)
            (running[place],) = session.admit([request])
        with pipeline.locked(), job.working(len(session.running)):
            session.step()
        for place in [place for place, each in running.items() if each.is_done]:
            hypotheses = running.pop(place).hypotheses
            results[place] = pipeline.result(rows[place], options, job, requests[place], hypotheses)
    return [results[place] for place in range(len(rows))]


OVERRIDES = [{"seed": 3, "method": "sample"}, {"beam_size": 3}, {"beam_size": 1}]


@pytest.mark.parametrize("overrides", OVERRIDES)
def test_prompts_that_join_a_session_get_the_outputs_of_a_call(generator, overrides):
    rows = [PromptRow(text) for text in ("Anna went", "", "Peter", "The dog said")]
    expected = generator(rows, **overrides)
    for one, other in zip(served(generator, rows, overrides), expected, strict=True):
        assert (one.row, one.text, one.ids, one.finish_reason) == (
            other.row,
            other.text,
            other.ids,
            other.finish_reason,
        )


@pytest.mark.parametrize("overrides", OVERRIDES)
def test_sources_that_join_a_session_get_the_translations_of_a_call(translator, overrides):
    rows = [SourceRow(text) for text in SENTENCES]
    for one, other in zip(served(translator, rows, overrides), translator(rows, **overrides), strict=True):
        assert (one.row, one.text) == (other.row, other.text) and one.score == pytest.approx(other.score, abs=1e-4)


def test_a_row_without_a_request_has_an_empty_result(translator):
    options = translator.options()
    row, job = SourceRow("  "), translator.job(options)
    assert translator.request(row, options) is None
    result = translator.result(row, options, job, None, ())
    assert (result.text, result.row, result.candidates) == ("", row, ()) and list(translator.stream(" ")) == []


def test_a_bad_row_is_refused_alone_by_its_name(translator, generator):
    with pytest.raises(DataError, match=r"request 7 has [\d,]+ tokens, more than decode.max_source_length 1,024"):
        translator.check(SourceRow("sehr " * 2000), translator.options(), "request 7")
    for pipeline, row in ((translator, SourceRow("\udcf6")), (generator, PromptRow("\udcf6"))):
        with pytest.raises(DataError, match=r"request 8 is not UTF-8 text; convert it first\."):
            pipeline.check(row, pipeline.options(), "request 8")
    with pytest.raises(DataError, match="line 1 is 3 and not text"):
        generator(3)


def test_random_numbers_depend_on_the_number_of_a_row(generator):
    rows = ["Anna", "Anna", "Anna"]
    first, second, third = (each.text for each in generator(rows))
    assert len({first, second, third}) == 3 and generator("Anna", first_row=3).text == third
    assert [each.text for each in generator.map(iter(rows), chunk=2)] == [first, second, third]
    assert generator.answers([None, "Anna"], generator.options(), ["a", "b"])[1].text == second
    options = generator.options()
    assert [each.text for each in generator.predict([PromptRow("Anna")], options, numbers=[2])] == [second]
    assert [each.text for each in generator.predict([PromptRow("Anna")], options)] == [first]


def test_a_batch_is_bounded_by_its_padded_tokens(generator, translator):
    for pipeline, row in ((generator, PromptRow("Anna went to")), (translator, SourceRow(SENTENCES[0]))):
        options = pipeline.options(beam_size=3)
        job, request = pipeline.job(options), pipeline.request(row, options)
        read, new = pipeline.sizes(job, request)
        assert list(pipeline.batches(job, [])) == []
        fits = pipeline.batch_tokens // ((read + new) * 3)
        assert len(list(pipeline.batches(job, [request] * fits))) == 1
        assert len(list(pipeline.batches(job, [request] * (fits + 1)))) == 2


def test_jobs_of_calls_that_decode_alike_are_equal(generator):
    plain, forced = (generator.options(beam_size=3, prefix=prefix) for prefix in (None, " said"))
    assert plain != forced and generator.job(plain).settings == generator.job(forced).settings
    assert type(generator.job(plain).settings) is TextDecoding
    assert decoding_part(TextDecoding, plain) == generator.job(plain).settings
    assert all(
        each.text.startswith(" said") for each in generator(["Anna", PromptRow("The", " said")], options=forced)
    )
    assert issubclass(type(generator), GeneratingPipeline) and generator.job(plain).is_stepwise


def test_mask_predict_decodes_a_batch_at_once(masked_run):
    pipeline = regard.load(masked_run.best, device="cpu")
    options = pipeline.options(iterations=2)
    job = pipeline.job(options)
    assert isinstance(options, MaskPredictOptions) and not job.is_stepwise
    requests = [pipeline.request(SourceRow(text), options) for text in SENTENCES[:2]]
    outputs = [
        pipeline.result(SourceRow(text), options, job, request, hypotheses).text
        for text, request, hypotheses in zip(SENTENCES, requests, generate(job, requests))
    ]
    assert outputs == [each.text for each in pipeline(SENTENCES[:2], iterations=2)]
    assert list(pipeline.stream(SENTENCES[0], iterations=2)) == outputs[:1]
    with pytest.raises(ConfigError, match=r"^prefix: a mask-predict model predicts all tokens in parallel"):
        pipeline(SourceRow("Ja.", "Yes"))
    with pytest.raises(ConfigError, match=r"^n_best: 4 is more than length_candidates 3; raise that\.$"):
        pipeline("Ja.", n_best=4)


def test_options_given_hold_over_the_checkpoint_and_overrides_over_both():
    stored = {"top_p": 0.9, "max_new_tokens": 7}
    options = decoding_options(TextOptions, stored, None, {})
    assert (options.method, options.top_p, options.max_new_tokens) == ("sample", 0.9, 7)
    assert decoding_options(TextOptions, stored, options, {}) == options
    beam = decoding_options(TextOptions, stored, options, {"beam_size": 4})
    assert (beam.method, beam.beam_size, beam.top_p, beam.max_new_tokens) == ("beam", 4, None, 7)
    assert decoding_options(TextOptions, stored, beam, {}) == beam
    again = decoding_options(TextOptions, stored, beam, {"temperature": 0})
    assert (again.method, again.is_greedy) == ("sample", True)
    given = decoding_options(TextOptions, stored, TextOptions(method="beam", beam_size=2), {"max_new_tokens": 3})
    assert (given.method, given.beam_size, given.max_new_tokens) == ("beam", 2, 3)


def test_n_best_are_the_samples_or_the_best_of_a_search(translator, generator):
    assert generator.options(n_best=3).num_samples == 3 and len(generator("Anna", n_best=3).samples) == 3
    best = generator("Anna", n_best=2, beam_size=3)
    assert best.samples == generator("Anna", num_samples=3, beam_size=3).samples[:2]
    options = translator.options(n_best=3, method="sample")
    assert isinstance(options, TranslateOptions) and options.num_samples == 3
    result = translator(SENTENCES[0], n_best=3)
    assert len(result.candidates) == 5 and len(result.to_dict()["candidates"]) == 3
    assert len(translator(SENTENCES[0]).to_dict()["candidates"]) == 1
    for pipeline, name in ((translator, "beam_size 2"), (generator, "num_samples: 4 is more than beam_size 2")):
        with pytest.raises(ConfigError, match=name):
            pipeline("Ja.", n_best=4, beam_size=2)
