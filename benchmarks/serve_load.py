"""A server under load: throughput against offline batches, latencies, wrong and lost answers, signals and kills.

    python benchmarks/serve_load.py --translator runs/multi30k --generator runs/gpt            # all parts
    python benchmarks/serve_load.py --quick                                                    # untrained, seconds

Clients are processes apart from the server, which is `regard serve` as users start it. Each part prints JSON:
- offline: sentences/s of one call with all of them, and of calls one after the other;
- scheduler: the same sentences sent one by one by 64 clients in the process of the model;
- http: the same over HTTP; every answer is compared with that of the offline call;
- overhead: milliseconds of one request, against the pipeline in Python;
- soak: many clients for some seconds: wrong pairings of answer and question, lost answers, memory of the server;
- stream: 64 streaming completions, against one offline batch: tokens/s, time to first token, time between tokens;
- sigterm: requests in flight when the server is told to stop;
- kill: a worker is killed while clients go on.
"""

import argparse
import asyncio
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # the untrained models of --quick
PARTS = ("offline", "scheduler", "http", "overhead", "soak", "stream", "sigterm", "kill")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--translator", help="run of a translator (default with --quick: an untrained one)")
    parser.add_argument("--generator", help="run of a language model")
    parser.add_argument("--sentences", help="file of source sentences (default: the miniature world)")
    parser.add_argument("--count", type=int, default=2000, help="sentences of a part")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--processes", type=int, default=2, help="client processes")
    parser.add_argument("--soak-clients", type=int, default=500)
    parser.add_argument("--soak-seconds", type=float, default=60)
    parser.add_argument("--tokens", type=int, default=128, help="new tokens of a completion")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--options", default="{}", help="options of translation as JSON")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--client", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.client:
        print(json.dumps(asyncio.run(client(json.loads(given.client)))))
        return
    with tempfile.TemporaryDirectory(prefix="regard-serve-") as folder:
        if given.quick:
            given.count, given.soak_clients, given.soak_seconds, given.tokens = 200, 100, 5, 32
            untrained(given, Path(folder))
        bench = Bench(given, Path(folder))
        for part in given.parts.split(","):
            needs = given.generator if part == "stream" else given.translator
            if needs:
                print(json.dumps({"part": part} | getattr(bench, part)()), flush=True)


def untrained(given: argparse.Namespace, folder: Path) -> None:
    from served_models import write_generator, write_translator

    write_translator(folder / "de-en", width=128, feed_forward_width=512, heads=8)
    write_generator(folder / "gpt")
    given.translator, given.generator = str(folder / "de-en"), str(folder / "gpt")


class Bench:
    def __init__(self, given: argparse.Namespace, folder: Path) -> None:
        self.given, self.folder, self.options = given, folder, json.loads(given.options)
        self._expected: dict[str, str] = {}
        self._offline = 0.0

    def _load(self, path: str) -> Any:
        from regard.tasks.load import load

        return load(path, self.given.device, precision=self.given.precision)

    @property
    def sentences(self) -> list[str]:
        if self.given.sentences:
            lines = Path(self.given.sentences).read_text(encoding="utf-8").splitlines()
        else:
            from regard import miniature

            lines = [pair.source for pair in miniature.pairs("train", self.given.count)]
        lines = [line for line in lines if line.strip()]
        return [lines[number % len(lines)] for number in range(self.given.count)]

    def offline(self) -> dict[str, Any]:
        translator, sentences = self._load(self.given.translator), self.sentences
        translator(sentences[:64], **self.options)
        began = time.perf_counter()
        results = translator(sentences, **self.options)
        self._offline = len(sentences) / (time.perf_counter() - began)
        self._expected = {each.source: each.text for each in results}
        few = sentences[: max(20, len(sentences) // 20)]
        began = time.perf_counter()
        for each in few:
            translator(each, **self.options)
        alone = len(few) / (time.perf_counter() - began)
        return {"sentences_per_second": round(self._offline, 1), "one_after_the_other": round(alone, 1)}

    def expected(self) -> dict[str, str]:
        if not self._expected:
            self.offline()
        return self._expected

    def scheduler(self) -> dict[str, Any]:
        from regard.server.settings import ServerSettings
        from regard.server.store import ModelStore

        settings = ServerSettings(device=self.given.device, precision=self.given.precision)
        expected, sentences, wrong = self.expected(), self.sentences, 0

        async def ask() -> float:
            nonlocal wrong
            store = ModelStore(settings, [f"model={self.given.translator}"])
            model = await store.model("model")
            operation = model.task.operations[0]
            call, remaining = model.call(operation, self.options), iter(sentences)

            async def one() -> None:
                nonlocal wrong
                for text in remaining:
                    (result,) = await model.results(call, [operation.row(text)])
                    wrong += result.text != expected[text]

            await model.results(call, [operation.row(text) for text in sentences[:64]])
            began = time.perf_counter()
            await asyncio.gather(*(one() for _ in range(self.given.clients)))
            seconds = time.perf_counter() - began
            store.close()
            return len(sentences) / seconds

        rate = asyncio.run(ask())
        return {
            "sentences_per_second": round(rate, 1),
            "of_offline": round(rate / self._offline, 3),
            "differing": wrong,
        }

    def http(self) -> dict[str, Any]:
        expected, sentences = self.expected(), self.sentences
        with self.server(self.given.translator) as (url, _):
            self.load(url, sentences[:100], min(8, self.given.clients))
            found = self.load(url, sentences, self.given.clients)
            rate = found.pop("answers") / found["seconds"]
            alone = self.load(url, sentences[:50], 1, processes=1)
            one = alone["answers"] / alone["seconds"]
        return {
            "sentences_per_second": round(rate, 1),
            "of_offline": round(rate / self._offline, 3),
            "of_one_client": round(rate / one, 2),
            **found,
            "expected": len(expected),
        }

    def overhead(self) -> dict[str, Any]:
        translator, text = self._load(self.given.translator), self.sentences[0]
        options = {"beam_size": 1, "max_length": 2} if hasattr(translator.options(), "beam_size") else {}
        times = []
        for _ in range(60):
            began = time.perf_counter()
            translator(text, **options)
            times.append(time.perf_counter() - began)
        direct = 1000 * statistics.median(times[10:])
        with self.server(self.given.translator) as (url, _):
            found = self.load(url, [text] * 300, 1, processes=1, options=options, checks=False)
        return {
            "pipeline_ms": round(direct, 2),
            "http_ms": found["p50_ms"],
            "overhead_ms": round(found["p50_ms"] - direct, 2),
        }

    def soak(self) -> dict[str, Any]:
        with self.server(self.given.translator) as (url, process):
            self.load(url, self.sentences[:200], min(64, self.given.soak_clients), checks=bool(self.expected()))
            sizes, is_over = [memory(process.pid)], threading.Event()

            def watch() -> None:
                while not is_over.wait(0.5):
                    sizes.append(memory(process.pid))

            watcher = threading.Thread(target=watch)
            watcher.start()
            seconds = self.given.soak_seconds
            found = self.load(url, self.sentences, self.given.soak_clients, seconds=seconds)
            is_over.set()
            watcher.join()
        half = len(sizes) // 2
        return {
            **found,
            "memory_mb": {
                "after_200_requests": sizes[0],
                "largest_in_first_half": max(sizes[: half + 1]),
                "largest_in_second_half": max(sizes[half:]),
                "end": sizes[-1],
            },
        }

    def stream(self) -> dict[str, Any]:
        generator, count = self._load(self.given.generator), self.given.clients
        from regard import miniature

        prompts = [text[:60] for text in miniature.documents("train", count)]
        generator(prompts[:8], max_new_tokens=8)
        began = time.perf_counter()
        results = generator(prompts, max_new_tokens=self.given.tokens)
        offline = sum(len(each.ids) for each in results) / (time.perf_counter() - began)
        with self.server(self.given.generator) as (url, _):
            task = {"kind": "stream", "url": url, "prompts": prompts, "tokens": self.given.tokens}
            self.clients([task | {"prompts": prompts[:4]}])
            share = [prompts[number :: self.given.processes] for number in range(self.given.processes)]
            began = time.perf_counter()
            found = self.clients([task | {"prompts": each} for each in share])
            seconds = time.perf_counter() - began
        rate = sum(each["tokens"] for each in found) / max(each["seconds"] for each in found)
        first, between = ([value for each in found for value in each[name]] for name in ("first", "between"))
        return {
            "offline_tokens_per_second": round(offline),
            "tokens_per_second": round(rate),
            "of_offline": round(rate / offline, 3),
            "first_token_ms": percentiles(first),
            "between_events_ms": percentiles(between),
            "seconds": round(seconds, 1),
        }

    def sigterm(self) -> dict[str, Any]:
        sentences, count = self.sentences, min(200, self.given.soak_clients)
        with self.server(self.given.translator) as (url, process):
            task = {"kind": "burst", "url": url, "sentences": sentences[:count], "options": self.options}
            running = self.start(task)
            deadline = time.monotonic() + 20
            while metric(url, "regard_http_requests_in_flight") < count and time.monotonic() < deadline:
                time.sleep(0.005)
            in_flight = metric(url, "regard_http_requests_in_flight") - 1
            process.send_signal(signal.SIGTERM)
            found = json.loads(running.communicate()[0])
            process.wait()
        wrong = sum(self.expected()[text] != answer for text, answer in found["answers"].items())
        return {"in_flight": in_flight, "lost": found["lost"], "answered": found["answered"], "differing": wrong}

    def kill(self) -> dict[str, Any]:
        with self.server(self.given.translator, "--workers", "2") as (url, process):
            children = lambda: [
                int(each) for each in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            ]
            while len(children()) < 2:
                time.sleep(0.1)
            time.sleep(5 if self.given.quick else 15)
            task = self.task(url, self.sentences, 16, seconds=20, options=self.options)
            running = self.start(task)
            time.sleep(4)
            victim = children()[0]
            os.kill(victim, signal.SIGKILL)
            began = time.perf_counter()
            while victim in children() or len(children()) < 2:
                time.sleep(0.02)
            replaced = time.perf_counter() - began
            found = json.loads(running.communicate()[0])
        return {
            "replaced_after_s": round(replaced, 2),
            "broken_connections": found["lost"],
            "answers": found["answers"],
        }

    def load(
        self,
        url: str,
        sentences: Sequence[str],
        clients: int,
        processes: int | None = None,
        seconds: float | None = None,
        options: dict[str, Any] | None = None,
        checks: bool = True,
    ) -> dict[str, Any]:
        """Send sentences one by one from several processes; with `seconds`, again and again until time is up."""
        count = min(processes or self.given.processes, clients)
        chosen = self.options if options is None else options
        each = [max(1, clients // count)] * count
        tasks = [
            self.task(url, sentences[number::count], each[number], seconds, chosen)
            | {"expected": self.expected() if checks else {}}
            for number in range(count)
        ]
        found = self.clients(tasks)
        times = [value for one in found for value in one["times"]]
        return {
            "answers": sum(one["answers"] for one in found),
            "wrong": sum(one["wrong"] for one in found),
            "lost": sum(one["lost"] for one in found),
            "retried": sum(one["retried"] for one in found),
            "seconds": round(max(one["seconds"] for one in found), 2),
            "p50_ms": round(1000 * statistics.median(times), 2),
            "p99_ms": round(1000 * sorted(times)[int(0.99 * (len(times) - 1))], 1),
        }

    def task(
        self, url: str, sentences: Sequence[str], clients: int, seconds: float | None, options: dict[str, Any]
    ) -> dict[str, Any]:
        return {
            "kind": "loop",
            "url": url,
            "sentences": list(sentences),
            "clients": clients,
            "seconds": seconds,
            "options": options,
            "expected": {},
        }

    def start(self, task: dict[str, Any]) -> "subprocess.Popen[str]":
        path = self.folder / f"client-{time.monotonic_ns()}.json"
        path.write_text(json.dumps(task))
        words = [sys.executable, __file__, "--client", json.dumps(str(path))]
        return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)

    def clients(self, tasks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        running = [self.start(each) for each in tasks]
        return [json.loads(each.communicate()[0]) for each in running]

    @contextmanager
    def server(self, run: str, *words: str) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
        log = self.folder / f"server-{time.monotonic_ns()}.log"
        given = ["--port", "0", "--device", self.given.device, "--precision", self.given.precision, "--log", "none"]
        with log.open("w") as file:
            command = [sys.executable, "-m", "regard", "serve", f"model={run}", *given, *words]
            process = subprocess.Popen(command, stderr=file)
        try:
            while (match := re.search(r"http://[\d.]+:\d+", log.read_text())) is None:
                assert process.poll() is None, log.read_text()
                time.sleep(0.05)
            while metric(match[0], "", "/ready") != 200:
                time.sleep(0.05)
            yield match[0], process
        finally:
            process.kill()
            process.wait()


def metric(url: str, name: str, path: str = "/metrics") -> float:
    import urllib.error
    import urllib.request

    try:
        with urllib.request.urlopen(f"{url}{path}", timeout=10) as answer:
            if not name:
                return float(answer.status)
            lines = answer.read().decode().splitlines()
    except urllib.error.HTTPError as error:
        return float(error.code)
    except OSError:
        return -1
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name))


def memory(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) // 1024  # type: ignore[index]


def percentiles(times: Sequence[float]) -> dict[str, float]:
    ordered = sorted(times)
    at = lambda share: round(1000 * ordered[int(share * (len(ordered) - 1))], 1)
    return {"p50": at(0.5), "p99": at(0.99), "max": at(1)}


async def client(path: str) -> dict[str, Any]:
    """A client process: connections that are kept, on raw sockets, so that it takes little of the machine."""
    task = json.loads(Path(path).read_text())
    host, port = task["url"].removeprefix("http://").split(":")
    return await {"loop": loop, "burst": burst, "stream": streams}[task["kind"]](task, (host, int(port)))


class Connection:
    def __init__(self, address: tuple[str, int]) -> None:
        self.address = address
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, path: str, body: Any) -> asyncio.StreamReader:
        if self.streams is None:
            self.streams = await asyncio.open_connection(*self.address)
        reader, writer = self.streams
        content = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: {self.address[0]}\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)
        return reader

    async def ask(self, path: str, body: Any) -> tuple[int, Any]:
        reader = await self.send(path, body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(re.search(r"content-length: (\d+)", head)[1])  # type: ignore[index]
        answer = json.loads(await reader.readexactly(length))
        if "connection: close" in head:
            self.close()
        return int(head.split()[1]), answer

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].close()
        self.streams = None


def question(text: str, options: dict[str, Any]) -> dict[str, Any]:
    return {"inputs": {"source": text}, "options": options}


PATH = "/api/translate/translate"


async def loop(task: dict[str, Any], address: tuple[str, int]) -> dict[str, Any]:
    counts = {"answers": 0, "wrong": 0, "lost": 0, "retried": 0}
    times: list[float] = []
    end = None if task["seconds"] is None else time.perf_counter() + task["seconds"]
    sentences, position = task["sentences"], iter(range(10**9))

    async def one() -> None:
        connection = Connection(address)
        for number in position:
            if (end is None and number >= len(sentences)) or (end is not None and time.perf_counter() > end):
                break
            text, began = sentences[number % len(sentences)], time.perf_counter()
            try:
                status, answer = await connection.ask(PATH, question(text, task["options"]))
                while status == 429:
                    counts["retried"] += 1
                    await asyncio.sleep(0.2)
                    status, answer = await connection.ask(PATH, question(text, task["options"]))
            except (OSError, asyncio.IncompleteReadError):
                counts["lost"] += 1
                connection.close()
                continue
            times.append(time.perf_counter() - began)
            counts["answers"] += status == 200
            counts["lost"] += status != 200
            if status == 200:
                (result,) = answer["results"]
                is_other = task["expected"] and result["text"] != task["expected"][text]
                counts["wrong"] += result["source"] != text or bool(is_other)
        connection.close()

    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(task["clients"])))
    return {**counts, "seconds": time.perf_counter() - began, "times": times}


async def burst(task: dict[str, Any], address: tuple[str, int]) -> dict[str, Any]:
    async def one(text: str) -> tuple[str, str] | None:
        try:
            status, answer = await Connection(address).ask(PATH, question(text, task["options"]))
        except (OSError, asyncio.IncompleteReadError):
            return None
        return (text, answer["results"][0]["text"]) if status == 200 else None

    answers = await asyncio.gather(*map(one, task["sentences"]))
    known = [each for each in answers if each is not None]
    return {"answers": dict(known), "answered": len(known), "lost": len(answers) - len(known)}


async def streams(task: dict[str, Any], address: tuple[str, int]) -> dict[str, Any]:
    first: list[float] = []
    between: list[float] = []
    tokens = 0

    async def one(prompt: str) -> None:
        nonlocal tokens
        body = {"model": "model", "prompt": prompt, "max_tokens": task["tokens"], "stream": True}
        last = time.perf_counter()
        connection = Connection(address)  # kept: its end would close the stream
        reader = await connection.send("/v1/completions", body | {"stream_options": {"include_usage": True}})
        events = 0
        while True:
            line = await reader.readline()
            if line.startswith(b"data: [DONE]") or not line:
                connection.close()
                return
            if line.startswith(b"data: "):
                now = time.perf_counter()
                (between if events else first).append(now - last)
                last, events = now, events + 1
                usage = json.loads(line[6:]).get("usage")
                tokens += usage["completion_tokens"] if usage else 0

    began = time.perf_counter()
    await asyncio.gather(*map(one, task["prompts"]))
    return {"first": first, "between": between, "tokens": tokens, "seconds": time.perf_counter() - began}


if __name__ == "__main__":
    main()
