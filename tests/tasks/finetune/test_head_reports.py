from regard.tasks.contract import find_task
from regard.tasks.finetune.predictions import HeadReports


def test_every_task_with_a_head_shows_the_layers_of_an_elmo():
    for name in ("classify", "regress", "choose", "tag", "answer"):
        task = find_task(name)
        assert isinstance(task, HeadReports)
        assert task.score_lines({"test": {"mix": {"characters": 0.25, "scale": 2.0}}}) == [
            "learned weights of the layers: characters 0.250, scale 2.000"
        ]
        assert task.score_lines({"test": {}}) == []
