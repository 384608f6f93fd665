"""The base of the messages between the studio's server and its pages, and the arrays in them."""

import base64
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor

LONGEST = 20_000
"""Characters of a text that is sent to a model."""


class StudioMessage(BaseModel):
    """A message: frozen, without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), defer_build=True)


class Floats(StudioMessage):
    """An array of 32-bit numbers, little-endian, in base64: ten times quicker to read than JSON."""

    shape: list[int]
    base64: str

    @classmethod
    def of(cls, values: ArrayLike | Tensor) -> "Floats":
        """Return the message of an array or tensor."""
        given = values.detach().float().cpu().numpy() if isinstance(values, Tensor) else values
        array = np.ascontiguousarray(given, dtype="<f4")
        return cls(shape=list(array.shape), base64=base64.b64encode(array.tobytes()).decode("ascii"))

    @property
    def array(self) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
        """The values."""
        return np.frombuffer(base64.b64decode(self.base64), "<f4").reshape(self.shape)


class ModelRequest(StudioMessage):
    """A request to one model, named by the path of its run below the folder of runs."""

    model: str

    @model_validator(mode="after")
    def _texts_are_bounded(self) -> Self:
        for name, value in self:
            if isinstance(value, str) and len(value) > LONGEST:
                raise ValueError(f"{name}: {len(value):,} characters are more than {LONGEST:,}; shorten it.")
        return self


class InputRequest(ModelRequest):
    """The input of a model: a text, or the fields of a row of a model with a head."""

    text: str = ""
    fields: dict[str, str] = Field(default_factory=dict)
    choices: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _fields_are_bounded(self) -> Self:
        if sum(map(len, (*self.fields.values(), *self.choices))) > LONGEST:
            raise ValueError(f"fields: they have more than {LONGEST:,} characters; shorten them.")
        return self


class TokenCandidate(StudioMessage):
    """A token and its probability."""

    id: int
    token: str
    probability: float
