# SPDX-License-Identifier: Apache-2.0
"""A vLLM router that answers with recorded bytes, or misbehaves as a test tells it to, and keeps what it was asked.

    with ReplayRouter() as router:
        router.on([1, 2], refuses(503), replays(capture("direct/ok-n1-max1")))

answers the first request whose prompt is [1, 2] with 503, and all later ones with that capture. A behaviour is a coroutine of
the request and its connection; the functions below make the usual ones. The router runs on a thread of its own.
"""

import asyncio
import json
import threading
from dataclasses import dataclass, field

from support.captures import capture
from support.waiting import eventually


@dataclass
class Seen:
    """A request that arrived."""

    line: str
    headers: list  # [(name in lower case, value)], in order
    body: bytes
    connection: int  # counted from 1
    turn: int  # of this request on its connection, from 1
    client_left: bool = field(default=False)  # noticed while the request was held

    def header(self, name):
        values = [value for key, value in self.headers if key == name]
        return values[0] if values else None

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def pairs(self):
        """The body's members in the order in which they were written."""
        return json.loads(self.body, object_pairs_hook=list)


class Gate:
    """Opened once, from any thread; behaviours wait for it."""

    def __init__(self):
        self._open = threading.Event()
        self._waiting = []
        self._lock = threading.Lock()

    def open(self):
        with self._lock:
            self._open.set()
            for loop, event in self._waiting:
                loop.call_soon_threadsafe(event.set)

    async def wait(self):
        event = asyncio.Event()
        with self._lock:
            if self._open.is_set():
                return
            self._waiting.append((asyncio.get_running_loop(), event))
        await event.wait()


class Connection:
    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    async def send(self, data):
        self.writer.write(data)
        await self.writer.drain()

    def close(self):
        self.writer.close()

    def reset(self):
        """Closes without an orderly end."""
        self.writer.transport.abort()

    async def until_client_leaves(self):
        while await self.reader.read(4096):
            pass


# --- behaviours


def replays(one, stamp=None):
    """Answers with a capture; with a stamp its first tokens are replaced by it."""
    return sends(one.answer if stamp is None else one.stamped(stamp))


def sends(*pieces, then_closes=False):
    """Writes these bytes, whatever they are, each piece on its own."""

    async def behave(_request, connection):
        for piece in pieces:
            await connection.send(piece)
            await asyncio.sleep(0)
        if then_closes:
            connection.close()

    return behave


def http_answer(body, status="200 OK", content_type="application/json", more=""):
    """The bytes of an answer with a length."""
    body = body if isinstance(body, bytes) else body.encode()
    return f"HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {len(body)}\r\n{more}\r\n".encode() + body


def refuses(status, text="no"):
    error = {"error": {"message": text, "type": "Error", "param": None, "code": status}}
    return sends(http_answer(json.dumps(error), f"{status} Refused"))


def closes():
    async def behave(_request, connection):
        connection.close()

    return behave


def resets():
    async def behave(_request, connection):
        connection.reset()

    return behave


def holds(gate, then):
    """Goes on with `then` when the gate opens; marks the request when its client leaves before."""

    async def behave(request, connection):
        leaving = asyncio.ensure_future(connection.until_client_leaves())
        opening = asyncio.ensure_future(gate.wait())
        try:
            await asyncio.wait([leaving, opening], return_when=asyncio.FIRST_COMPLETED)
        finally:
            request.client_left = leaving.done()
            leaving.cancel()
            opening.cancel()
            await asyncio.gather(leaving, opening, return_exceptions=True)
        if request.client_left:
            connection.close()
        else:
            await then(request, connection)

    return behave


class Barrier:
    """Holds every answer until `count` requests are here at once."""

    def __init__(self, count):
        self.count, self.arrived, self.gate = count, 0, Gate()

    def before(self, then):
        async def behave(request, connection):
            self.arrived += 1
            if self.arrived == self.count:
                self.gate.open()
            await self.gate.wait()
            await then(request, connection)

        return behave


# --- the router


class ReplayRouter:
    def __init__(self, port=0):
        self.requests = []
        self.default = replays(capture("direct/ok-n1-max1"))
        self._behaviours = {}  # prompt → those still to come; the last one stays
        self._connections = set()
        self._accepted = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="router", daemon=True)
        self._thread.start()
        self._server = self._run(asyncio.start_server(self._serve, "127.0.0.1", port, limit=1 << 26, backlog=4096))
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def on(self, prompt, *behaviours):
        self._behaviours[tuple(prompt)] = list(behaviours)

    def asked(self, prompt):
        """The requests with this prompt so far."""
        return [request for request in list(self.requests) if request.json["prompt"] == list(prompt)]

    def wait_for(self, count, prompt=None):
        """The requests, as soon as there are `count` of them."""
        requests = (lambda: self.asked(prompt)) if prompt is not None else (lambda: self.requests)
        return eventually(lambda: len(requests()) >= count and requests(), f"{count} requests at the router")

    def close(self):
        if not self._thread.is_alive():
            return
        self._run(self._shut())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(10)

    async def _shut(self):
        self._server.close()
        while self._connections:
            for task in self._connections:
                task.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader, writer):
        task = asyncio.current_task()
        self._connections.add(task)
        self._accepted += 1
        number, turn = self._accepted, 0
        try:
            while not writer.is_closing():
                turn += 1
                request = await read_request(reader, number, turn)
                self.requests.append(request)
                await self._behaviour_for(request)(request, Connection(reader, writer))
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # the client is done with this connection, or the router is
        finally:
            self._connections.discard(task)
            writer.close()

    def _behaviour_for(self, request):
        behaviours = self._behaviours.get(tuple(request.json["prompt"]))
        if not behaviours:
            return self.default
        return behaviours.pop(0) if len(behaviours) > 1 else behaviours[0]


async def read_request(reader, connection, turn):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *lines = head[:-4].split("\r\n")
    headers = []
    for one in lines:
        name, value = one.split(":", 1)
        headers.append((name.strip().lower(), value.strip()))
    size = int(dict(headers).get("content-length", 0))
    return Seen(line, headers, await reader.readexactly(size), connection, turn)
