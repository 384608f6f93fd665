"""The store of models: loaded when asked for, replaced by newer checkpoints, evicted to keep within memory."""

import asyncio
import logging
import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regard import registry
from regard.checkpoint.bundle import read_config
from regard.checkpoint.identity import HUGGING_FACE, checkpoint_path
from regard.checkpoint.store import find_checkpoint
from regard.errors import ConfigError, RegardError
from regard.server.errors import Unavailable, UnknownModel
from regard.server.metrics import Metrics
from regard.server.served import ServedModel
from regard.server.settings import ServerSettings
from regard.tasks.contract import find_task
from regard.tasks.load import read_task

LOG = logging.getLogger("regard.server")
GIB = 2**30


@dataclass(frozen=True)
class Version:
    """The version of a model on disk; another one is loaded anew."""

    folder: str
    changed: int
    bytes: int
    """The size of its weights."""

    @classmethod
    def of(cls, path: str) -> "Version":
        """Return the version of the model at a path."""
        folder = Path(path)
        if not folder.is_file():  # word vectors
            folder = Path(checkpoint_path(path).removeprefix(HUGGING_FACE))
        weights = [file.stat() for file in ([folder] if folder.is_file() else folder.glob("*.safetensors"))]
        newest, size = max((each.st_mtime_ns for each in weights), default=0), sum(each.st_size for each in weights)
        return cls(str(folder), newest, size)


@dataclass(frozen=True)
class Card:
    """Facts of a model that is not loaded."""

    task: str | None = None
    languages: tuple[str, ...] = ()
    """Language codes: a translator's source first."""

    @property
    def operations(self) -> list[str]:
        """The operations of the task."""
        return [] if self.task is None else [each.name.split()[-1] for each in find_task(self.task).operations]

    @property
    def protocols(self) -> set[str]:
        """The routes of other servers that it answers."""
        return (
            set()
            if self.task is None
            else {each for own in find_task(self.task).operations for each in own.protocols}
        )

    @classmethod
    def of(cls, name: str, path: str) -> "Card":
        """Return the card of the model at a path; languages that its files do not name may be its name: de-en."""
        by_name = tuple(name.split("-")) if re.fullmatch(r"[a-z]{2,3}-[a-z]{2,3}", name) else ()
        try:
            if Path(path).is_file():
                return cls(registry.task_of_model("word-vectors"))
            if path.startswith(HUGGING_FACE):
                return cls(read_task(path), by_name)
            config = read_config(find_checkpoint(Path(path)))
            named = config.get("languages")
            languages = tuple(map(str, named)) if isinstance(named, list) and named else by_name
            return cls(str(config["task"]), languages)
        except (RegardError, OSError, KeyError):
            return cls(None, by_name)


class ModelStore:
    """The models of a server by name; `model` loads one that is not there yet."""

    def __init__(self, settings: ServerSettings, runs: Sequence[str | Path]) -> None:
        self.settings = settings
        self.paths = named(runs)
        """The path of each model by its name."""
        self.loaded: OrderedDict[str, ServedModel] = OrderedDict()
        """The models in memory, the least recently used first."""
        self.metrics = Metrics()
        self._cards: dict[str, Card] = {}
        self._versions: dict[str, Version] = {}
        self._loading = asyncio.Lock()

    def names(self) -> list[str]:
        """Return the names of all models, loaded or not."""
        return list(self.paths)

    def path(self, name: str) -> str:
        """Return the path of a model; an unknown name is refused."""
        if name not in self.paths:
            known = ", ".join(self.paths) or "none"
            raise UnknownModel(f'The model "{name}" is not served here; there are: {known}.', "model")
        return self.paths[name]

    async def model(self, name: str) -> ServedModel:
        """Return a model, loaded if it is not yet; the least recently used ones make room for it."""
        self.path(name)
        if name not in self.loaded:
            async with self._loading:
                if name not in self.loaded:
                    self.loaded[name] = await self._load(name)
        self.loaded.move_to_end(name)
        return self.loaded[name]

    async def card(self, name: str) -> Card:
        """Return what is known of a model before it is loaded."""
        path = self.path(name)
        if name not in self._cards or self._cards[name].task is None:
            self._cards[name] = await asyncio.to_thread(Card.of, name, path)
        return self._cards[name]

    async def only(self, task: str) -> str:
        """Return the name of the only model of a task; none and several are refused."""
        names = [name for name in self.names() if (await self.card(name)).task == task]
        return self._single(names, find_task(task).wording.noun)

    async def for_protocol(self, protocol: str) -> list[str]:
        """Return the names of the models with an operation for a route of another server."""
        return [name for name in self.names() if protocol in (await self.card(name)).protocols]

    def _single(self, names: Sequence[str], noun: str) -> str:
        if len(names) == 1:
            return names[0]
        if not names:
            raise UnknownModel(f"No model here is {noun}; name one with model.", "model")
        raise UnknownModel(f"Several models here are {noun}: {', '.join(names)}; name one with model.", "model")

    async def preload(self) -> None:
        """Load the models that fit in memory together, in the order of their names."""
        budget = self._budget
        for name, path in self.paths.items():
            budget -= (await asyncio.to_thread(Version.of, path)).bytes
            if budget >= 0 or not self.loaded:
                await self.model(name)

    async def reload(self) -> list[str]:
        """Load the newer checkpoints of loaded models, and return their names; what is in flight ends on the old."""
        changed = []
        for name in list(self.loaded):
            try:
                version = await asyncio.to_thread(Version.of, self.paths[name])
                if version == self._versions[name]:
                    continue
                async with self._loading:
                    served = await self._load(name, is_newer=True)
                    self.loaded.pop(name).retire()
                    self.loaded[name] = served
                changed.append(name)
            except (RegardError, OSError) as error:  # a half-written checkpoint: the old one goes on
                LOG.warning("%s: the newer checkpoint cannot be loaded: %s", name, error)
        return changed

    async def watch(self) -> None:
        """Reload newer checkpoints again and again."""
        while self.settings.reload_seconds:
            await asyncio.sleep(self.settings.reload_seconds)
            for name in await self.reload():
                LOG.info("%s: a newer checkpoint is loaded", name)

    def close(self) -> None:
        """Let the threads of all models end."""
        for served in self.loaded.values():
            served.retire()
        self.loaded.clear()

    async def _load(self, name: str, is_newer: bool = False) -> ServedModel:
        path = self.paths[name]
        try:
            version = await asyncio.to_thread(Version.of, path)
            if not is_newer:
                self._make_room(version.bytes)
            served = await ServedModel.load(name, path, self.settings, self.metrics)
        except (RegardError, OSError) as error:
            if is_newer:
                raise
            LOG.error("%s: %s", name, error)
            raise Unavailable(f'The model "{name}" cannot be loaded: {error}', "model", retry_after=5) from None
        self._versions[name] = version
        return served

    @property
    def _budget(self) -> float:
        return float("inf") if self.settings.memory is None else self.settings.memory * GIB

    def _make_room(self, size: int) -> None:
        """Evict the least recently used models, idle ones first, until another one of this size fits."""
        while self.loaded and size + sum(self._versions[name].bytes for name in self.loaded) > self._budget:
            idle = [name for name, served in self.loaded.items() if served.is_idle]
            name = next(iter(idle or self.loaded))
            self.loaded.pop(name).retire()
            LOG.info("%s: evicted to make room", name)


def named(runs: Sequence[str | Path]) -> dict[str, str]:
    """Return paths by names: NAME=PATH, else the name of the folder; a name that is there twice is refused."""
    paths: dict[str, str] = {}
    for each in map(str, runs):
        name, equals, path = each.partition("=")
        if not equals or Path(each).exists():
            name, path = Path(each.removeprefix(HUGGING_FACE)).resolve().name, each
        if not name or "/" in name:
            raise ConfigError(f'"{each}": a model needs a name without /; write it as NAME=PATH.')
        if name in paths:
            raise ConfigError(f"{each}: there is a model {name} already; give this one a name: NAME={path}.")
        paths[name] = path
    return paths
