from regard.decoding.steppers.requests import Prompt, RunningSequence


def test_new_tokens_are_those_after_the_prompt():
    prompt = Prompt([3, 7, 8])
    row = RunningSequence(prompt, 0, list(prompt.ids), None)
    assert row.said == [] and row.finish_reason is None
    row.ids += [9, 7]
    assert row.said == [9, 7] and prompt.ids == [3, 7, 8]
