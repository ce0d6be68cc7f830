# SPDX-License-Identifier: Apache-2.0
"""cases.md C12: clients that read a large result slowly, or stop reading."""

import json
import socket
import time

import pytest

from replay_router import http_answer, sends
from support.client import PROTOBUF, Client
from support.completions import long_completion
from support.waiting import PATIENCE_SEC, eventually

TOKENS = 500_000
RESULT_BYTES = 8 * TOKENS  # more than the kernel's buffers of a connection take
READERS = 25


@pytest.fixture
def large(router):
    """Prompt [9] gets a result of 4 MB."""
    router.on([9], sends(http_answer(long_completion(TOKENS))))


class Stalled:
    """A client that asks for a result and does not read the answer."""

    def __init__(self, daemon, request_id, *fields):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(PATIENCE_SEC)
        self.socket.connect(("127.0.0.1", daemon.port))
        body = json.dumps({"request_id": request_id}).encode()
        head = [
            "POST /api/v1/retrieve_future HTTP/1.1",
            "Host: x",
            f"Accept: {PROTOBUF}",
            f"Content-Length: {len(body)}",
            *fields,
        ]
        self.socket.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body)

    def read(self, most=1 << 16):
        try:
            return self.socket.recv(most)
        except ConnectionResetError:
            return b""

    def read_all(self, pause=0.0):
        received = 0
        while piece := self.read():
            received += len(piece)
            time.sleep(pause)
        return received


def resident_bytes(daemon):
    with open(f"/proc/{daemon.process.pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS:"))


def test_C12_readers_that_stop_share_the_bytes_and_disturb_nobody(client, daemon, large):
    request_id = client.submit([9])
    right = client.outcome(request_id)
    before = resident_bytes(daemon)

    stalled = [Stalled(daemon, request_id) for _ in range(READERS)]
    for reader in stalled:
        assert reader.read(1), "its answer has begun"

    assert resident_bytes(daemon) - before < READERS * RESULT_BYTES / 4, "the result is not copied for each reader"
    assert client.sample([3]), "another client is served"
    assert client.outcome(request_id).body == right.body
    assert daemon.ask("futures", "show", request_id)["state"] in ("delivered", "confirmed")


def test_C12_a_reader_that_stopped_is_disconnected_and_can_come_back(start_daemon, router, large):
    daemon = start_daemon("--upstream", router.url, "--write-timeout-sec", "1")
    with Client(daemon) as client:
        request_id = client.submit([9])
        eventually(lambda: daemon.ask("futures", "show", request_id)["state"] == "completed", "the result is here")
        reader = Stalled(daemon, request_id)
        assert reader.read(1)
        eventually(lambda: daemon.ask("status")["clients"]["connections"] == "1", "the reader is disconnected")

        assert reader.read_all() < RESULT_BYTES
        assert daemon.ask("futures", "show", request_id)["state"] == "completed", "an answer that was cut is no delivery"
        [sequence] = client.outcome(request_id).sample.sequences
        assert sequence.tokens == list(range(TOKENS))


def test_C12_a_slow_reader_gets_all_of_it(start_daemon, router, large):
    daemon = start_daemon("--upstream", router.url, "--write-timeout-sec", "1")
    with Client(daemon) as client:
        request_id = client.submit([9])
        eventually(lambda: daemon.ask("futures", "show", request_id)["state"] == "completed", "the result is here")
        reader = Stalled(daemon, request_id, "Connection: close")

        received = reader.read_all(pause=0.002)

        assert received > RESULT_BYTES
