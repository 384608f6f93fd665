"""Settings of a server: address, machine, limits, keys; every default is written here."""

from typing import Literal

from pydantic import Field

from regard.config.settings import Settings, Words

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names of this machine that nobody else can reach."""


class ServerSettings(Settings):
    """Settings of a server."""

    host: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 for all of this machine's."""
    port: int = Field(8000, ge=0, le=65535)
    """Port to listen on; 0: any free one."""
    workers: int = Field(1, ge=1, le=64)
    """Server processes, each with its own copy of the models; one that dies is replaced."""
    device: str = "auto"
    """Device: auto, cpu, cuda, cuda:N or mps."""
    threads: int | None = Field(None, ge=1)
    """CPU threads of a process (default: one for each core, shared by the workers)."""
    precision: Literal["fp32", "bf16"] = "fp32"
    """Arithmetic: fp32, or bf16 (faster on a GPU, nearly identical output)."""
    quantize: Literal["none", "int8"] = "none"
    """Weights of language models on a CPU: none, or int8."""
    memory: float | None = Field(None, gt=0)
    """GiB of weights to keep loaded; the least recently used model makes room (default: no limit)."""
    reload_seconds: float = Field(5.0, ge=0, le=86400)
    """Seconds between two looks for a newer best checkpoint, which is then loaded; 0: never."""
    keys: str | None = None
    """TOML file of API keys with their limits (default: no key is asked for)."""
    allowed_hosts: Words = ()
    """Host names that requests may name, commas between them; * for any (default: this machine, unless it
    listens on another address)."""
    allowed_origins: Words = ()
    """Origins of web pages that may call the server (CORS), commas between them (default: its own pages alone)."""
    max_body: int = Field(2_000_000, ge=1000, le=2**31)
    """Bytes of a request's body."""
    max_rows: int = Field(1024, ge=1, le=2**20)
    """Rows (texts) of a request."""
    max_characters: int = Field(200_000, ge=1, le=2**31)
    """Characters of a text."""
    max_new_tokens: int = Field(4096, ge=1, le=2**20)
    """New tokens that a request may ask for."""
    max_tokens: int = Field(65_536, ge=1)
    """Tokens that the rows of a session may hold in memory, read and generated, all hypotheses counted."""
    max_running: int = Field(64, ge=1, le=4096)
    """Rows that a model works on together."""
    max_waiting: int = Field(4096, ge=1, le=2**20)
    """Rows that may wait for a model, half of them of one client; further ones are refused (429)."""
    max_sessions: int = Field(8, ge=1, le=256)
    """Generation sessions of a model; requests with equal decoding settings share one."""
    max_connections: int = Field(2000, ge=1, le=2**20)
    """Open connections; further ones are closed."""
    timeout: float = Field(600.0, gt=0, le=86400)
    """Seconds that a request may take; a header x-timeout-seconds asks for less."""
    header_timeout: float = Field(15.0, gt=0, le=3600)
    """Seconds that a client may take to send the headers of a request."""
    body_timeout: float = Field(30.0, gt=0, le=3600)
    """Seconds that a client may take to send the body of a request."""
    drain_seconds: float = Field(600.0, gt=0, le=86400)
    """Seconds that requests in flight may take to finish after SIGTERM."""
    log: Literal["text", "json", "none"] = "text"
    """Log of requests on standard error: text, json (an object a line) or none."""

    @property
    def is_private(self) -> bool:
        """True where only this machine can reach the server."""
        return self.host in LOOPBACK
