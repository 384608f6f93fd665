"""Tuning: candidates are trained for ever longer, the worse half of them given up after each round."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard.checkpoint.atomic import write_json, write_text
from regard.config.overrides import nested
from regard.config.resolve import Resolved
from regard.config.settings import flatten
from regard.errors import ConfigError, RegardError, RunError, RunInterrupted
from regard.progress import Progress
from regard.reporting.bars import as_progress
from regard.runs.execute import RunSpec, execute
from regard.runs.planning.recipes import Recipe, chosen_recipe, resolve_run
from regard.runs.resume import resume
from regard.runs.run import Run
from regard.runs.scores.evaluate import evaluate_sets
from regard.studies.folder import RESULTS, STOPPED
from regard.studies.race.budget import Budget
from regard.studies.race.disciplines import SharedData
from regard.studies.race.folder import check_writable
from regard.studies.race.leaderboard import Leaderboard, NamedProgress, Show, Standing
from regard.studies.race.plan import changed, plan_member, within
from regard.studies.race.race import news_of
from regard.studies.tune.candidates import PLAIN, Candidate, candidates, combined
from regard.studies.tune.folder import AskedTuning, TrialRecord, Tuning, claim_tuning
from regard.tasks.contract import find_task
from regard.training.reports.metrics_log import METRICS, read_metrics

ROUNDS = (0.35, 0.3, 0.35)
"""Fractions of the time for each round: all candidates, the better half of them, and the best one with the plan."""
TRAINED = 0.8
"""Fraction of the time of a trial that is spent on its updates; validations and measuring take the rest."""


@dataclass
class Session:
    """One tuning: rounds of trials, each resumed where it stopped."""

    tuning: Tuning
    resolved: Resolved[Any]
    open: list[Candidate]
    minutes: float
    shared: SharedData
    board: Leaderboard
    trials: list[TrialRecord] = field(default_factory=list)

    @property
    def metric(self) -> str:
        """The validation metric that ranks candidates."""
        return str(self.resolved.settings.train.select_by)

    def run(self) -> tuple[Candidate, list[Candidate]]:
        """Train all rounds, and return the winner and the candidates of the last round."""
        plain, *others = self.open
        survivors = self.round(1, [plain, *others])
        better = [each for each in survivors if self._is_before(each, plain, survivors)]
        together = combined(better)
        kept = better[: max(1, len(others) // 2)] + ([together] if together else [])
        if not kept:
            kept = [each for each in survivors if each is not plain][:1]
        ranked = self.round(2, [plain, *kept])
        best = next((each for each in ranked if each is not plain), None)
        if best is None:
            return plain, [plain]
        final = self.round(3, [plain, best])
        return final[0], final

    @staticmethod
    def _is_before(one: Candidate, other: Candidate, order: Sequence[Candidate]) -> bool:
        return one in order and (other not in order or order.index(one) < order.index(other))

    def round(self, number: int, entrants: Sequence[Candidate]) -> list[Candidate]:
        """Train every candidate of a round; return those that did not fail, the best first."""
        self._plan(number, entrants)
        lengths = self.tuning.record.rounds[number - 1]
        scores: dict[str, float] = {}
        for each in entrants:
            title = f"{number}-{each.name}"
            self.board.standings[title] = Standing(title, steps=lengths[each.name].steps, score_name=self.metric)
            score: float | None = None
            try:
                score = self._train(number, each, lengths[each.name].steps)
            except (KeyboardInterrupt, RunInterrupted) as interrupt:
                raise type(interrupt)(STOPPED) from None
            except RegardError as error:
                self.board.update(title, state="failed")
                self.board.progress.warn(f"{title}: {error} The tuning continues without it.")
            else:
                scores[each.name] = score
                self.board.update(title, state="finished", score=score)
            self.trials.append(
                TrialRecord(
                    name=each.name,
                    round=number,
                    changes=dict(each.changes),
                    steps=lengths[each.name].steps,
                    score=score,
                )
            )
        if not scores:
            raise RunError(f"{self.tuning.path}: all trials of round {number} failed; see the warnings above.")
        sign = 1 if self.metric == "loss" else -1
        return sorted((each for each in entrants if each.name in scores), key=lambda each: sign * scores[each.name])

    def _plan(self, number: int, entrants: Sequence[Candidate]) -> None:
        """Fix the length of each trial of a round, so that all have the same time; a resumed tuning keeps them."""
        record = self.tuning.record
        if len(record.rounds) >= number:
            return
        seconds = 60 * self.minutes * ROUNDS[number - 1] * TRAINED / len(entrants)
        lengths = {}
        for each in entrants:
            progress = NamedProgress(self.board.progress, f"trial of {each.name}")
            lengths[each.name] = plan_member(
                self._settings(each).settings, self._budget(seconds), self.shared, progress
            )
        self.tuning.write(record.model_copy(update={"rounds": [*record.rounds, lengths]}))

    def _budget(self, seconds: float) -> Budget:
        return Budget("seconds", seconds)

    def _settings(self, candidate: Candidate) -> Resolved[Any]:
        return changed(self.resolved, dict(candidate.changes), f"candidate {candidate.name}")

    def _train(self, number: int, candidate: Candidate, steps: int) -> float:
        """Train a candidate, or resume it, unless it has ended; return its best validation."""
        run = self.tuning.run(number, candidate.name)
        if not self.tuning.has_ended(number, candidate.name):
            key = f"valid_{self.metric}"
            progress = self.board.watching(f"{number}-{candidate.name}", news_of(run, key))
            if run.exists:
                resume(run.path, progress=progress, data=self.shared.data)
            else:
                resolved = changed(within(self._settings(candidate), steps), {"train.rollbacks": 0}, "the tuning")
                execute(run, RunSpec(resolved, is_scored=False, data=self.shared.data), progress)
        return best_of(run, self.metric)


def best_of(run: Run, metric: str) -> float:
    """Return the best value of a validation metric in a run."""
    values = [line[f"valid_{metric}"] for line in read_metrics(run.path / METRICS) if f"valid_{metric}" in line]
    if not values:
        raise RunError(f"{run.path}: it was never validated; repeat the tuning with --overwrite.")
    return float(min(values) if metric == "loss" else max(values))


def tune(
    recipe: str | Path | Mapping[str, Any],
    overrides: Mapping[str, Any] | None = None,
    *,
    minutes: float = 30.0,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | bool | None = None,
    show: Show = lambda standings: None,
) -> Tuning:
    """Search better values for the most doubtful settings of a plan, and write a recipe; return the tuning.

    Trials are scored on the validation set alone. A signal stops it, saved; the same call resumes it.
    """
    chosen, shown = chosen_recipe(recipe), as_progress(progress)
    given = dict(flatten(nested(overrides or {})))
    resolved = resolve_run(chosen, given)
    task = find_task(resolved.settings.task)
    if not task.has_trials:
        raise ConfigError(
            f"{task.wording.plural.capitalize()} have their own trainer, without trials; set their values."
        )
    resolved = without_tests(resolved)
    entrants = candidates(task, resolved, frozenset(given))
    asked = AskedTuning(
        recipe=chosen.name,
        minutes=minutes,
        settings=resolved.settings.model_dump(mode="json"),
        candidates={each.name: dict(each.changes) for each in entrants},
    )
    path = Path(out) if out is not None else Path("tuned") / chosen.name
    check_writable(path)
    tuning = claim_tuning(path, asked, overwrite)
    shared = SharedData(resolved.settings, shown)
    with Run(path).in_hand():
        session = Session(tuning, resolved, entrants, minutes, shared, Leaderboard({}, show, shown))
        winner, final = session.run()
        verdict = _verdict(session, winner, final)
        _write(session, chosen, given, winner, verdict)
        shown.info(verdict)
    return tuning


def without_tests(resolved: Resolved[Any]) -> Resolved[Any]:
    """Return settings without test sets (scores are those of the validation set), time limit and checks."""
    settings = resolved.settings
    parts = {
        "data": settings.data.model_copy(update={"test": {}}),
        "train": settings.train.model_copy(update={"minutes": None}),
        "preflight": False,
    }
    return Resolved(settings.model_copy(update=parts), resolved.sources)


def _verdict(session: Session, winner: Candidate, final: Sequence[Candidate]) -> str:
    """Return what tuning bought: the paired test of the best candidate against the plan on the validation set."""
    if len(final) < 2:
        return f"Only {winner.name} could be trained to the end, so there is nothing to compare it with."
    other = next(each for each in final if each.name != PLAIN)
    one, plan = (str(session.tuning.run(len(ROUNDS), name).path) for name in (other.name, PLAIN))
    device = session.resolved.settings.machine.device
    (evaluation,) = evaluate_sets(one, against=plan, device=device).values()
    comparison = evaluation.comparison
    tested = " ".join(comparison.words()) if comparison else ""
    changes = ", ".join(f"{name}={json.dumps(value)}" for name, value in other.changes.items())
    if winner.name == PLAIN:
        return f"Nothing better than the plan was found; the best other one had {changes}. {tested}".strip()
    return f"The best trial has {changes}. {tested}".strip()


def _write(session: Session, recipe: Recipe, given: Mapping[str, object], winner: Candidate, verdict: str) -> None:
    """Write the results, and the recipe: what was asked for, with the winner's values."""
    tuning, metric = session.tuning, session.metric
    trials = [each.model_dump(mode="json") for each in session.trials]
    results = {"metric": metric, "trials": trials, "winner": winner.name, "verdict": verdict}
    write_json(tuning.path / RESULTS, results)
    values = dict(flatten(nested(recipe.values))) | dict(given) | dict(winner.changes)
    about = {"task": session.resolved.settings.task, "about": f"Tuned in {session.minutes:g} minutes: {verdict}"}
    write_text(tuning.recipe, "".join(_lines({**values, **about})))


def _lines(values: Mapping[str, object]) -> Iterator[str]:
    """Yield lines of TOML: dotted keys, and values as JSON spells them."""
    for name, value in sorted(values.items(), key=lambda pair: ("." in pair[0], pair[0])):
        if value is not None:
            key = ".".join(
                part if part.replace("-", "_").isidentifier() else json.dumps(part) for part in name.split(".")
            )
            yield f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
