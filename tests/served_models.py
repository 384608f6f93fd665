"""Untrained models in folders, and an application over them, for tests of the server."""

from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import torch

from bundles import small_bundle
from generators import language_bundle, tokenizer_of
from regard import miniature
from regard.checkpoint.bundle import write_bundle
from regard.server.app import create_app
from regard.server.clients import Client
from regard.server.guard import Asker
from regard.server.settings import ServerSettings
from regard.server.store import ModelStore
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer


def write_translator(folder: Path, **changes) -> None:
    """Write an untrained translator."""
    pairs = miniature.pairs("train", 200)
    texts = [text for pair in pairs for text in (pair.source, pair.target)]
    tokenizer = train_tokenizer(texts, TokenizerSettings(size=300))
    write_bundle(folder, small_bundle({"tokenizer": tokenizer}, {"max_length_extra": 8}, **changes))


@asynccontextmanager
async def client_of(paths, settings=None, **named):
    """A client of an application that runs in this process."""
    settings = settings or ServerSettings(**named)
    app = create_app(settings, ModelStore(settings, paths))
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", timeout=60) as client:
            client.app = app
            yield client


def write_generator(folder: Path, **facts) -> None:
    """Write an untrained language model whose outputs never end by themselves."""
    bundle = language_bundle(tokenizer_of(), "rotary", **facts)
    with torch.no_grad():
        bundle.model.head.weight[bundle.tokenizers["tokenizer"].eos_id].zero_()
    write_bundle(folder, bundle)


@asynccontextmanager
async def served(path, name="model", **settings):
    """A model with its scheduler, without any application."""
    store = ModelStore(ServerSettings(**settings), [f"{name}={path}"])
    try:
        yield await store.model(name)
    finally:
        store.close()


def asker(name="somebody", priority=0):
    """Who asks, for units made by hand."""
    return Asker("id", Client(name), float("inf"), priority)
