"""Batches of rows: those of one operation, equal options and about the same length are predicted together."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from regard.server.metrics import Metrics
from regard.server.scheduling.units import RowUnit
from regard.server.settings import ServerSettings

if TYPE_CHECKING:
    from regard.pipelines.base import Result

CHARACTERS = {"cpu": 32_768, "cuda": 524_288}
"""Characters of a batch, so that others wait for it no longer than a moment."""


class RowBatch:
    """Rows that are predicted together."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings, self.units, self.cost = settings, list[RowUnit](), 0.0

    def has_room(self, unit: RowUnit) -> bool:
        """Return whether a row may be added: the first one decides what is."""
        if not self.units:
            return True
        limit = CHARACTERS.get(unit.call.device, CHARACTERS["cpu"])
        is_alike = unit.group == self.units[0].group
        return is_alike and len(self.units) < self.settings.max_running and self.cost + unit.cost <= limit

    def add(self, unit: RowUnit) -> None:
        """Add a row."""
        self.units.append(unit)
        self.cost += unit.cost

    def work(
        self,
        post: Callable[[RowUnit, Callable[..., None], object], None],
        name: str,
        metrics: Metrics,
        restore: Callable[[RowUnit], None],
    ) -> None:
        """Predict the rows; a wrong one is refused, and where all fail together each is tried alone."""
        began, sound = time.monotonic(), list[RowUnit]()
        for unit in self.units:
            metrics.queue.labels(name).observe(began - unit.arrived)
            try:
                unit.call.pipeline.check(unit.row, unit.call.options, unit.where)
            except Exception as error:
                post(unit, unit.fail, error)
            else:
                sound.append(unit)
        if not sound:
            return
        call = sound[0].call
        try:
            results: list[Result] = call.pipeline.predict([unit.row for unit in sound], call.options)
        except Exception as error:
            for unit in sound:
                if len(sound) == 1:
                    post(unit, unit.fail, error)
                else:
                    unit.alone()
                    restore(unit)
            return
        now = time.monotonic()
        for unit, result in zip(sound, results, strict=True):
            post(unit, unit.succeed, result)
            metrics.end_to_end.labels(name).observe(now - unit.arrived)
        metrics.finished.labels(name).inc(len(sound))
