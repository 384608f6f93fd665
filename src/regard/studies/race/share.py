"""The data of a race: read, cleaned and encoded once, with one tokenizer, for all its members."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from regard.checkpoint import Bundle
from regard.data.pairs import Pair
from regard.data.readers import read_references
from regard.progress import SILENT, Progress
from regard.studies.doctor.preflight import preflight
from regard.studies.doctor.trial import Bench
from regard.studies.evaluate import HeldOut
from regard.studies.material import Material
from regard.studies.prepared import Prepared
from regard.studies.translation import gather, make_ready, new_bundle
from regard.training import Machine, prepare_machine


class SharedData:
    """Prepares every member of a race from the same material."""

    def __init__(self, settings: Any, progress: Progress = SILENT) -> None:
        self.settings, self.progress = settings, progress
        self._material: Material | None = None

    @property
    def material(self) -> Material:
        """What there is to learn from, gathered when it is first asked for."""
        if self._material is None:
            self._material = gather(self.settings, prepare_machine(self.settings.machine), self.progress)
            if self.settings.preflight and self.progress is not SILENT:
                preflight(self._material, self.progress)
        return self._material

    @property
    def tokens(self) -> int:
        """How many target tokens an epoch has."""
        return int(self.material.encoded.target.lengths.sum())

    @property
    def held_out(self) -> HeldOut:
        """The set that members are measured on: the first test set, or the validation set where there is none."""
        for name, pairs in self.material.read.tests.items():
            return HeldOut(name, pairs, read_references(self.settings.data.test[name], pairs))
        return HeldOut("valid", self.material.valid, [[pair.target] for pair in self.material.valid])

    def of(self, settings: Any, machine: Machine, resumed: Bundle | None = None) -> Material:
        """Return the material with a member's own settings and model."""
        bundle = resumed or new_bundle(settings, self.material.bundle.tokenizers, machine)
        return replace(self.material, settings=settings, bundle=bundle)

    def prepare(
        self,
        settings: Any,
        machine: Machine,
        progress: Progress = SILENT,
        resumed: Bundle | None = None,
        given: Sequence[Pair] | None = None,
    ) -> Prepared:
        """Make a member ready, as the task would have done for a run of its own."""
        return make_ready(self.of(settings, machine, resumed), machine)

    def bench(self, settings: Any) -> Bench:
        """Return all it takes to try a member out."""
        machine = prepare_machine(settings.machine)
        material = self.of(settings, machine)
        return Bench(material, make_ready(material, machine), machine)
