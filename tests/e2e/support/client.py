# SPDX-License-Identifier: Apache-2.0
"""A Tinker client at the level of HTTP: one keep-alive connection, no retries, nothing hidden."""

import http.client
import json
import socket
import time
from dataclasses import dataclass

from support.sample_response import parse_sample_response
from support.waiting import PATIENCE_SEC

PROTOBUF = "application/x-protobuf"
API = "/api/v1/"


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def detail(self):
        return self.json["detail"]

    @property
    def sample(self):
        assert self.status == 200 and self.headers["content-type"] == PROTOBUF, (self.status, self.body[:300])
        return parse_sample_response(self.body)


class Client:
    """A connection to a daemon. Closed at the end of a `with`, or left to hang up."""

    def __init__(self, daemon):
        self.port = daemon.port
        self.http = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=PATIENCE_SEC)
        self._sampler = None
        self._seq_id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.hang_up()

    def hang_up(self):
        self.http.close()

    def request(self, method, path, body=None, headers=None):
        self.send(method, path, body, headers)
        return self.receive()

    def send(self, method, path, body=None, headers=None):
        """Only sends; receive() waits for the answer."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.http.request(method, path, body, {"Content-Type": "application/json", **(headers or {})})

    def receive(self):
        response = self.http.getresponse()
        return Answer(response.status, response.headers, response.read())

    def get(self, path):
        return self.request("GET", path)

    def post(self, name, body, headers=None):
        """POST /api/v1/NAME"""
        return self.request("POST", API + name, body, headers)

    @property
    def sampler(self):
        """A sampling session of its own, made when first asked for."""
        if self._sampler is None:
            session = self.post("create_session", {"sdk_version": "e2e"}).json["session_id"]
            made = self.post(
                "create_sampling_session", {"session_id": session, "sampling_session_seq_id": 0, "base_model": "tiny"}
            )
            self._sampler = made.json["sampling_session_id"]
        return self._sampler

    def sample_body(self, prompt, seq_id=None, params=None, **more):
        """The body of an asample; without a seq_id the next one of this client."""
        if seq_id is None:
            seq_id, self._seq_id = self._seq_id, self._seq_id + 1
        return {
            "prompt": {"chunks": [{"type": "encoded_text", "tokens": list(prompt)}]},
            "sampling_params": {"max_tokens": 16, **(params or {})},
            "sampling_session_id": self.sampler,
            "seq_id": seq_id,
            **more,
        }

    def submit(self, prompt, seq_id=None, params=None, **more):
        """An asample that must be accepted; returns its request_id."""
        answer = self.post("asample", self.sample_body(prompt, seq_id, params, **more))
        assert answer.status == 200, (answer.status, answer.body)
        return answer.json["request_id"]

    def poll(self, request_id, accept=PROTOBUF, **more):
        return self.post("retrieve_future", {"request_id": request_id, **more}, {"Accept": accept})

    def outcome(self, request_id, accept=PROTOBUF):
        """Polls as the SDK does, again after each 408; returns the first other answer."""
        deadline = time.monotonic() + PATIENCE_SEC
        while True:
            answer = self.poll(request_id, accept)
            if answer.status != 408:
                return answer
            assert time.monotonic() < deadline, f"{request_id} is still not done"

    def sample(self, prompt, **more):
        """Submits, polls, decodes."""
        return self.outcome(self.submit(prompt, **more)).sample

    def failure(self, prompt, **more):
        """Submits a sample that must fail; returns {"error": text, "category": …}."""
        answer = self.outcome(self.submit(prompt, **more))
        assert answer.status == 200 and "error" in answer.json, (answer.status, answer.body[:300])
        return answer.json


def raw_exchange(port, data, patience=PATIENCE_SEC):
    """Sends bytes on a connection of its own, then reads all that comes until the daemon closes or falls silent."""
    with socket.create_connection(("127.0.0.1", port), timeout=patience) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        try:
            while piece := connection.recv(1 << 16):
                received += piece
        except ConnectionResetError:
            pass
        return received
