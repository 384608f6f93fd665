"""The scheduler: rows of many clients share a model, in fair order, and each gets the answer of a lone call."""

import asyncio
import time
from dataclasses import replace

import pytest

from regard import miniature
from regard.errors import DataError
from regard.server.errors import Overloaded
from regard.server.scheduling.units import GenerationUnit, StreamPiece, Wanted
from regard.tasks.language_model.options import PromptRow
from regard.tasks.load import load
from regard.tasks.translate.options import SourceRow
from served_models import asker, served

PROMPTS = [text[:40] for text in miniature.documents("train", 40)]
SOURCES = [pair.source for pair in miniature.pairs("test", 40)]


async def texts(model, operation, given, rows):
    """The results of rows that are sent one by one, all at a time."""
    call = model.call(model.operation(operation), given)
    return await asyncio.gather(*(model.results(call, [row], asker(f"client {n}")) for n, row in enumerate(rows)))


@pytest.mark.parametrize("given", [{"beam_size": 4}, {"beam_size": 1}, {"method": "sample", "seed": 5}])
def test_translations_sent_together_equal_those_of_lone_calls(translator, given):
    async def check():
        async with served(translator) as model:
            return await texts(model, "translate", given, [SourceRow(each) for each in SOURCES])

    pipeline = load(translator)
    for (answer,), source in zip(asyncio.run(check()), SOURCES, strict=True):
        alone = pipeline(source, **given)
        assert answer.text == alone.text and answer.score == pytest.approx(alone.score, abs=1e-4)


def test_generations_with_seeds_and_lengths_of_their_own_share_a_session_and_equal_lone_calls(generator):
    given = [{"seed": n % 3, "max_new_tokens": 5 + n % 7, "temperature": 0.8} for n in range(24)]

    async def check():
        async with served(generator) as model:
            calls = [model.call(model.operation("generate"), each) for each in given]
            assert len({call.key for call in calls}) == 1
            rows = zip(calls, PROMPTS, strict=False)
            return await asyncio.gather(*(model.results(call, [PromptRow(text)]) for call, text in rows))

    pipeline = load(generator)
    for (answer,), prompt, options in zip(asyncio.run(check()), PROMPTS, given, strict=False):
        alone = pipeline(prompt, **options)
        assert answer.ids == alone.ids and answer.text == alone.text


def test_a_late_request_gets_its_first_token_before_any_of_32_long_ones_ends(generator):
    async def check():
        async with served(generator) as model:
            call = model.call(model.operation("generate"), {"max_new_tokens": 200})
            rows = [PromptRow(text) for text in PROMPTS[:32]]
            long = [asyncio.create_task(model.results(call, [row], asker(f"long {n}"))) for n, row in enumerate(rows)]
            while model.scheduler.is_idle or model.scheduler.waiting:
                await asyncio.sleep(0.001)
            short = model.call(model.operation("generate"), {"max_new_tokens": 10})
            stream = model.stream(short, PromptRow("Ann"), Wanted(is_streamed=True), asker("late"))
            async for _ in stream:
                assert not any(task.done() for task in long)
                break
            await stream.aclose()
            return await asyncio.gather(*long)

    assert all(len(answer.ids) == 200 for (answer,) in asyncio.run(check()))


def test_a_stream_is_the_text_of_a_call_in_parts(generator):
    async def check():
        async with served(generator) as model:
            call = model.call(model.operation("generate"), {"max_new_tokens": 30, "seed": 2})
            wanted = Wanted(is_streamed=True, alternatives=3)
            return [each async for each in model.stream(call, PromptRow(PROMPTS[0]), wanted)]

    *pieces, whole = asyncio.run(check())
    assert len(pieces) > 1 and all(isinstance(each, StreamPiece) for each in pieces)
    assert "".join(each.text for each in pieces) == whole.result.text
    tokens = [token for each in pieces for token in each.tokens]
    alone = load(generator)(PROMPTS[0], max_new_tokens=30, seed=2)
    assert tuple(token.id for token in tokens) == alone.ids == whole.result.ids
    assert [token.log_probability for token in tokens] == pytest.approx(alone.log_probabilities, abs=1e-4)
    for token in tokens:
        values = [value for _, value in token.alternatives]
        assert len(values) == 3 and values == sorted(values, reverse=True) and values[0] >= token.log_probability


def test_a_cancelled_request_leaves_within_one_step(generator):
    async def check():
        async with served(generator, max_running=2) as model:
            call = model.call(model.operation("generate"), {"max_new_tokens": 4000})
            long = [asyncio.create_task(model.results(call, [PromptRow(text)])) for text in PROMPTS[:2]]
            while model.scheduler.is_idle or model.scheduler.waiting:
                await asyncio.sleep(0.001)
            while not any(each.units for each in model.scheduler._sessions.values()):
                await asyncio.sleep(0.001)
            (session,) = model.scheduler._sessions.values()
            running = next(iter(session.units))
            waiting = asyncio.create_task(
                model.results(model.call(model.operation("generate"), {}), [PromptRow("A")])
            )
            await asyncio.sleep(0.02)
            assert not waiting.done() and model.scheduler.waiting == 1  # two at a time
            steps, step = [], session.session.step
            session.session.step = lambda: (steps.append(running in session.units), step())
            long[0].cancel()
            before = len(steps)
            (answer,) = await waiting
            assert sum(steps[before:]) <= 1  # the step under way
            long[1].cancel()
            await asyncio.gather(*long, return_exceptions=True)
            return answer

    assert asyncio.run(check()).text


def test_the_share_of_a_client_does_not_depend_on_how_much_it_sends(generator):
    async def check():
        async with served(generator, max_running=4) as model:
            call = model.call(model.operation("generate"), {"max_new_tokens": 20})
            ended = []

            async def ask(name, row):
                await model.results(call, [row], asker(name))
                ended.append(name)

            flood = [asyncio.create_task(ask("flood", PromptRow(PROMPTS[n % 32]))) for n in range(100)]
            await asyncio.sleep(0)
            await ask("modest", PromptRow("Ann"))
            assert ended.count("flood") < 20
            for task in flood:
                task.cancel()
            await asyncio.gather(*flood, return_exceptions=True)

    asyncio.run(check())


def test_a_higher_priority_goes_first(generator):
    async def check():
        async with served(generator, max_running=1) as model:
            call, ended = model.call(model.operation("generate"), {"max_new_tokens": 10}), []

            async def ask(number):
                await model.results(call, [PromptRow("Ann")], asker(f"client {number}", number))
                ended.append(number)

            await asyncio.gather(*(ask(number) for number in range(5)))
            return ended

    first, *others = asyncio.run(check())
    assert [first, *others] == [4, 3, 2, 1, 0] or others == sorted(others, reverse=True)


def test_a_wrong_row_is_refused_and_harms_no_other(translator):
    async def check():
        async with served(translator) as model:
            call = model.call(model.operation("translate"), {"max_source_length": 40})
            rows = [SourceRow(SOURCES[0]), SourceRow("viel zu lang " * 60), SourceRow(""), SourceRow("\ud800")]
            return await asyncio.gather(*(model.results(call, [row]) for row in rows), return_exceptions=True)

    (good,), long, (blank,), broken = asyncio.run(check())
    assert good.text == load(translator)(SOURCES[0]).text and blank.text == ""
    assert isinstance(long, DataError) and "split it" in str(long)
    assert isinstance(broken, DataError) and "UTF-8" in str(broken)


def test_a_session_that_fails_is_taken_apart_so_that_only_the_culprit_fails(generator):
    async def check():
        async with served(generator) as model:
            call = model.call(model.operation("generate"), {"max_new_tokens": 8})
            rows = [PromptRow(text) for text in PROMPTS[:4]]
            pipeline, result = call.pipeline, call.pipeline.result

            def fragile(row, *words):
                if row.prompt == PROMPTS[2]:
                    raise ValueError("a fault in the code")
                return result(row, *words)

            pipeline.result = fragile
            return await asyncio.gather(*(model.results(call, [row]) for row in rows), return_exceptions=True)

    answers = asyncio.run(check())
    assert isinstance(answers[2], ValueError)
    alone = load(generator)
    for number in (0, 1, 3):
        assert answers[number][0].text == alone(PROMPTS[number], max_new_tokens=8).text


def test_memory_that_runs_out_halves_the_session_and_loses_nobody(generator):
    async def check():
        async with served(generator) as model:
            call = model.call(model.operation("generate"), {"max_new_tokens": 6})
            model_of, counts = call.pipeline.model, []
            hidden_states = model_of.hidden_states

            def limited(tokens, *words, **named):
                counts.append(len(tokens))
                if len(tokens) > 4:
                    raise RuntimeError("out of memory")
                return hidden_states(tokens, *words, **named)

            model_of.hidden_states = limited
            rows = [PromptRow(text) for text in PROMPTS[:16]]
            answers = await model.results(call, rows)
            return answers, max(counts)

    answers, most = asyncio.run(check())
    assert most > 4
    alone = load(generator)(PROMPTS[:16], max_new_tokens=6)
    assert [each.text for each in answers] == [each.text for each in alone]


def test_a_full_queue_refuses_further_rows_and_says_when_to_come_back(generator):
    async def check():
        async with served(generator, max_waiting=8, max_running=2) as model:
            call = model.call(model.operation("generate"), {"max_new_tokens": 500})
            tasks = [
                asyncio.create_task(model.results(call, [PromptRow("Ann")], asker(f"client {n}"))) for n in range(30)
            ]
            await asyncio.sleep(0.05)
            refused = [task for task in tasks if task.done()]
            assert len(refused) >= 20
            for task in refused:
                with pytest.raises(Overloaded) as error:
                    task.result()
                assert error.value.retry_after >= 1
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            while not model.scheduler.is_idle:
                await asyncio.sleep(0.001)

    asyncio.run(check())


def test_a_function_waits_for_no_more_than_the_step_under_way(generator):
    async def check():
        async with served(generator) as model:
            call = model.call(model.operation("generate"), {"max_new_tokens": 2000})
            task = asyncio.create_task(model.results(call, [PromptRow("Ann")]))
            while model.scheduler.is_idle or model.scheduler.waiting:
                await asyncio.sleep(0.001)
            began = time.monotonic()
            value = await model.run(lambda: 7)
            assert value == 7 and not task.done() and time.monotonic() - began < 1
            with pytest.raises(ZeroDivisionError):
                await model.run(lambda: 1 / 0)
            task.cancel()

    asyncio.run(check())


def test_units_are_made_for_a_loop_and_prepared_in_the_thread(generator):
    async def check():
        async with served(generator) as model:
            call = model.call(model.operation("generate"), {})
            unit = GenerationUnit(call, PromptRow("Ann"), "The text", asker(), Wanted(ids=[5, 6, 7]))
            model.scheduler.submit(unit)
            generated = await unit.future
            assert list(generated.request.ids) == [5, 6, 7]
            assert replace(generated.request, text="").limit == call.options.max_new_tokens

    asyncio.run(check())
