"""Clients of a server: a key of the server's file, or the address of a connection; each key has its limits."""

import hmac
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field, ValidationError

from regard.config.parsing import ParseError, parse_toml
from regard.config.settings import Settings
from regard.errors import ConfigError
from regard.server.errors import Overloaded, WrongKey

FEW = 10_000
"""Addresses that are remembered."""


class KeySettings(Settings):
    """A key of the file: a table of its owner's name."""

    key: str = Field(min_length=8)
    """The secret, at least 8 characters."""
    requests_per_minute: int | None = Field(None, ge=1)
    """Requests a minute (default: no limit)."""
    concurrent: int | None = Field(None, ge=1)
    """Requests at a time (default: no limit)."""
    priority: int = Field(0, ge=-10, le=10)
    """Highest priority that its requests may ask for; higher goes first."""


@dataclass(eq=False)
class Client:
    """One who asks, with what is counted of it."""

    name: str
    limits: KeySettings | None = None
    running: int = 0
    allowance: float = 0.0
    """Requests that it may send now; refilled by the minute."""
    refilled: float = field(default_factory=time.monotonic)

    def enter(self) -> None:
        """Count a request; one beyond the limits of its key is refused."""
        limits = self.limits
        if limits is not None and limits.concurrent is not None and self.running >= limits.concurrent:
            raise Overloaded(
                f"This key may send {limits.concurrent} requests at a time; wait for one to end.", retry_after=1
            )
        if limits is not None and limits.requests_per_minute is not None:
            self._spend(limits.requests_per_minute)
        self.running += 1

    def leave(self) -> None:
        """Count a request that ended."""
        self.running -= 1

    def priority(self, wanted: int) -> int:
        """Return the priority of a request: the wanted one, up to what its key allows."""
        return min(wanted, self.limits.priority if self.limits is not None else 0)

    def _spend(self, per_minute: int) -> None:
        now = time.monotonic()
        self.allowance = min(per_minute, self.allowance + (now - self.refilled) * per_minute / 60)
        self.refilled = now
        if self.allowance < 1:
            wait = int((1 - self.allowance) * 60 / per_minute) + 1
            raise Overloaded(f"This key may send {per_minute} requests a minute; wait {wait} s.", retry_after=wait)
        self.allowance -= 1


class Clients:
    """The clients of a server, by key or by address."""

    def __init__(self, keys: str | None) -> None:
        limits = {} if keys is None else read_keys(Path(keys))
        self.by_key = [
            (each.key.encode(), Client(name, each, allowance=each.requests_per_minute or 0))
            for name, each in limits.items()
        ]
        self.has_keys = keys is not None
        self._by_address: OrderedDict[str, Client] = OrderedDict()

    def find(self, key: str | None, address: str) -> Client:
        """Return the client of a key; without a file of keys that of an address, whatever the key."""
        if not self.has_keys:
            client = self._by_address.pop(address, None) or Client(address)
            self._by_address[address] = client  # the most recent last
            while len(self._by_address) > FEW:
                self._by_address.popitem(last=False)
            return client
        if not key:
            raise WrongKey("There is no API key in this request; send one as Authorization: Bearer KEY.")
        known = [client for secret, client in self.by_key if hmac.compare_digest(secret, key.encode())]
        if not known:
            raise WrongKey("This API key is unknown; send another one.")
        return known[0]


def read_keys(path: Path) -> dict[str, KeySettings]:
    """Return the keys of a TOML file by the names of their owners: `[alice]` and `key = "..."`."""
    try:
        tables = parse_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"keys: {path} cannot be read ({error.strerror}); check the path.") from None
    except (ParseError, UnicodeDecodeError) as error:
        raise ConfigError(f"keys: {path} is not TOML ({error}); write a table [NAME] for each key.") from None
    keys: dict[str, KeySettings] = {}
    for name, table in tables.items():
        try:
            keys[name] = KeySettings.model_validate(table)
        except ValidationError as error:
            place = ".".join(map(str, error.errors()[0]["loc"]))
            raise ConfigError(f"keys: {path}: [{name}] {place}: {error.errors()[0]['msg']}.") from None
    if not keys:
        raise ConfigError(f"keys: {path} has no keys; write a table [NAME] for each one.")
    if len({each.key for each in keys.values()}) < len(keys):
        raise ConfigError(f"keys: {path} has the same key twice; give everybody a key of their own.")
    return keys
