"""The scores of a run that has just ended: its best checkpoint on its test sets, computed by all its processes."""

from collections.abc import Mapping
from dataclasses import replace

from regard.checkpoint.bundle import read_bundle
from regard.nn.layers.low_rank import is_adapted
from regard.progress import Progress
from regard.runs.run import Run
from regard.runs.scores.evaluate import score_run
from regard.tasks.contract import AnyTask
from regard.tasks.data import Prepared
from regard.tasks.declarations import LoadOptions
from regard.tasks.load import load
from regard.training.loop import Trainer
from regard.training.parallel.division import divided
from regard.training.parallel.shard import is_sharded, load_whole


def final_scores(
    run: Run, task: AnyTask, prepared: Prepared[object], trainer: Trainer, progress: Progress
) -> Mapping[str, object]:
    """Return the scores by set, and write their passports; a collective call of all processes.

    A model of which each process holds a part takes the best weights in the same parts.
    """
    model, team = prepared.bundle.model, trainer.team
    team.wait()  # the main process has written the last checkpoint
    if not is_sharded(model) or is_adapted(model):
        with divided(team):
            pipeline = load(run.best, str(next(model.parameters()).device))
            return score_run(task, run, pipeline, prepared, progress)
    best = read_bundle(run.best)
    load_whole(model, best.model.state_dict())
    with trainer.gradients.evaluating(team):
        pipeline = task.pipeline(replace(best, model=model.eval()), LoadOptions())
        return score_run(task, run, pipeline, prepared, progress)
