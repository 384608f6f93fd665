"""Maps of word vectors in two dimensions (PCA, t-SNE): a PNG, and a self-contained HTML page with zoom."""

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from regard.checkpoint.atomic import write_text
from regard.errors import ConfigError, DataError
from regard.escaping import in_html, in_picture, one_line
from regard.pipelines.word_vectors import WordVectors
from regard.reporting.drawing import literal_text, new_figure

Method = Literal["pca", "tsne"]
FEWEST, MOST = 3, 5000
"""Bounds on the number of words of a map."""
SHOWN = 5
"""Nearest neighbors listed for each word of the page."""
LABELED = 300
"""Words that may be labeled in the picture, the first ones; a label that would overlap another is left out."""


def plot_map(
    vectors: WordVectors, words: Sequence[str], top: int | None, method: str, path: Path, seed: int = 1
) -> list[Path]:
    """Plot these words, and the `top` first of the table, to PATH.png and PATH.html."""
    if method not in get_args(Method):
        raise ConfigError(f'method: "{method}" is not one of {", ".join(get_args(Method))}; choose one.')
    numbers = list(dict.fromkeys([*(vectors.number(word) for word in words), *range(min(top or 0, len(vectors)))]))
    if not FEWEST <= len(numbers) <= MOST:
        raise ConfigError(
            f"{len(numbers):,} words make no map; name {FEWEST} to {MOST:,}, or give --top 500 for frequent ones."
        )
    table = vectors.directions[numbers]
    if not np.isfinite(table).all():
        raise DataError(
            f"{vectors.name}: a vector of these words has a value that is not finite; leave its word out."
        )
    points = project(table, method, seed)
    names = [vectors.words[number] for number in numbers]
    path.parent.mkdir(parents=True, exist_ok=True)
    picture, page = (path.with_name(path.name + ending) for ending in (".png", ".html"))
    _draw(names, points, method, picture)
    neighbors = [[each.word for each in vectors.near(vectors.vectors[n], SHOWN, "cosine", [n])] for n in numbers]
    write_text(page, map_page(names, points, neighbors, f"{vectors.name} · {method} of {len(names):,} words"))
    return [picture, page]


def project(table: NDArray[Any], method: str, seed: int = 1) -> NDArray[Any]:
    """Return points (N, 2) of directions (N, D): the first two principal components, or t-SNE."""
    if not np.ptp(table, axis=0).any():  # all directions are equal, and t-SNE would divide 0 by 0
        return np.zeros((len(table), 2))
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    if method == "pca":
        if table.shape[1] < 2:
            return np.concatenate([table, np.zeros_like(table)], axis=1)
        return np.asarray(PCA(n_components=2, svd_solver="full").fit_transform(table))
    perplexity = min(30.0, (len(table) - 1) / 3)
    init: Any = "pca" if table.shape[1] >= 2 else "random"
    # t-SNE squares Euclidean distances of unit vectors itself; a fixed seed makes the map reproducible.
    return np.asarray(TSNE(2, perplexity=perplexity, init=init, random_state=seed).fit_transform(table))


def _draw(names: Sequence[str], points: NDArray[Any], method: str, path: Path) -> None:
    with literal_text():
        figure = new_figure(10, 8, layout="constrained")
        _plot(figure.subplots(), names, points, method)
        figure.savefig(path, dpi=130)


def _plot(axes: Any, names: Sequence[str], points: NDArray[Any], method: str) -> None:
    axes.scatter(points[:, 0], points[:, 1], s=9, color="#2b6cb0", alpha=0.7)
    axes.set_title(f"{len(names):,} words, {'PCA' if method == 'pca' else 't-SNE'}")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.figure.canvas.draw()  # the layout is settled, and so is where labels are
    axes.figure.set_layout_engine("none")
    taken: list[Any] = []
    for name, (x, y) in list(zip(names, points, strict=True))[:LABELED]:
        _label(axes, in_picture(name), (float(x), float(y)), 9 if len(names) <= 60 else 6, taken)


def _label(axes: Any, name: str, point: tuple[float, float], size: int, taken: list[Any]) -> None:
    """Write a word beside its point where it overlaps none of the boxes taken; no label where it always would."""
    for offset, side, height in (
        ((3, 2), "left", "bottom"),
        ((-3, 2), "right", "bottom"),
        ((3, -2), "left", "top"),
        ((-3, -2), "right", "top"),
    ):
        text = axes.annotate(
            name, point, xytext=offset, textcoords="offset points", fontsize=size, ha=side, va=height
        )
        box = text.get_window_extent()
        if not any(box.overlaps(other) for other in taken):
            taken.append(box)
            return
        text.remove()


def map_page(names: Sequence[str], points: NDArray[Any], neighbors: Sequence[Sequence[str]], title: str) -> str:
    """Return a self-contained HTML page: the points, their words, and a few lines of script."""
    low, high = points.min(0), points.max(0)
    scaled = (points - low) / np.where(high > low, high - low, 1)
    rows = [
        [one_line(name), round(float(x), 5), round(1 - float(y), 5), [one_line(each) for each in others]]
        for name, (x, y), others in zip(names, scaled, neighbors, strict=True)
    ]
    data = json.dumps(rows, ensure_ascii=False).replace("<", "\\u003c")  # no word may end the script
    page = (resources.files("regard.tasks.word_vectors") / "map.html").read_text(encoding="utf-8")
    return Template(page).substitute(title=in_html(title), data=data)
