# SPDX-License-Identifier: Apache-2.0
"""What every endpoint has in common: status codes and the shape of `detail` (server-contract.md §1.1)."""

import socket

import pytest

from support.client import API, Client

POSTS = [
    "client/config",
    "client/dynamic_config",
    "create_session",
    "session_heartbeat",
    "sessions/x/finish",
    "create_sampling_session",
    "join_sampling_session",
    "asample",
    "retrieve_future",
    "cancel_future",
    "telemetry",
]
GETS = ["healthz", "get_server_capabilities", "samplers/x"]
BODIES = [
    "create_session",
    "session_heartbeat",
    "create_sampling_session",
    "join_sampling_session",
    "asample",
    "retrieve_future",
    "cancel_future",
]


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/api/v1",
        "/api/v1/",
        "/api/v2/healthz",
        "/api/v1/forward",
        "/api/v1/samplers/",
        "/api/v1/samplers/a/b",
        "/api/v1/healthz/x",
    ],
)
def test_an_unknown_path_is_404(path, client):
    answer = client.get(path)

    assert (answer.status, answer.body) == (404, b'{"detail":"Not Found"}')
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("path", "right"), [(API + name, "POST") for name in POSTS] + [(API + name, "GET") for name in GETS] + [("/", "GET")]
)
def test_a_wrong_method_is_405_with_allow(path, right, client):
    for method in {"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"} - {right}:
        answer = client.request(method, path)

        assert (answer.status, answer.body) == (405, b'{"detail":"Method Not Allowed"}')
        assert answer.headers["allow"] == right


def test_head_is_405_without_a_body(client):
    answer = client.request("HEAD", API + "healthz")

    assert (answer.status, answer.body, answer.headers["allow"]) == (405, b"", "GET")


def test_a_surplus_slash_is_307_to_the_path_without(client):
    answer = client.get(API + "healthz/?a=1")

    assert (answer.status, answer.body) == (307, b"")
    assert answer.headers["location"] == f"http://127.0.0.1:{client.port}/api/v1/healthz?a=1"


@pytest.mark.parametrize("name", BODIES)
def test_an_empty_body_is_422(name, client):
    answer = client.post(name, b"")

    assert answer.status == 422
    assert answer.json == {"detail": [{"type": "missing", "loc": ["body"], "msg": "Field required", "input": None}]}


@pytest.mark.parametrize("name", BODIES)
def test_bad_json_is_422_with_its_place(name, client):
    answer = client.post(name, b'{"type": }')

    [fault] = answer.detail
    assert answer.status == 422
    assert (fault["type"], fault["msg"], fault["input"]) == ("json_invalid", "JSON decode error", {})
    assert fault["loc"] == ["body", 9] and fault["ctx"]["error"]


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("body", [b"[]", b'"text"', b"7", b"null"])
def test_a_body_that_is_no_object_is_422(name, body, client):
    answer = client.post(name, body)

    [fault] = answer.detail
    assert answer.status == 422
    if body == b"null":
        assert fault["loc"] == ["body"]
    else:
        assert (fault["type"], fault["loc"]) == ("model_attributes_type", ["body"])
        assert fault["msg"] == "Input should be a valid dictionary or object to extract fields from"


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("create_session", ["sdk_version"]),
        ("session_heartbeat", ["session_id"]),
        ("create_sampling_session", ["session_id", "sampling_session_seq_id"]),
        ("join_sampling_session", ["sampling_session_id"]),
        ("asample", ["prompt", "sampling_params"]),
        ("retrieve_future", ["request_id"]),
        ("cancel_future", ["request_id"]),
    ],
)
def test_all_missing_fields_are_named_together(name, missing, client):
    answer = client.post(name, {})

    assert answer.status == 422
    assert answer.detail == [{"type": "missing", "loc": ["body", key], "msg": "Field required", "input": {}} for key in missing]


@pytest.mark.parametrize("name", ["create_session", "session_heartbeat", "create_sampling_session", "asample"])
def test_a_wrong_type_literal_is_422(name, client):
    answer = client.post(name, {"type": "other"})

    [fault] = [fault for fault in answer.detail if fault["loc"] == ["body", "type"]]
    literal = "sample" if name == "asample" else name
    assert (fault["type"], fault["msg"]) == ("literal_error", f"Input should be '{literal}'")
    assert fault["ctx"] == {"expected": f"'{literal}'"} and fault["input"] == "other"


def test_unknown_keys_are_ignored(client):
    assert client.post("create_session", {"sdk_version": "1", "new_in_some_release": {"a": [1]}}).status == 200


def test_a_compressed_body_is_415(client):
    assert client.post("asample", b"\x28\xb5\x2f\xfd", {"Content-Encoding": "zstd"}).status == 415


def test_a_body_beyond_the_limit_is_413(start_daemon, router):
    daemon = start_daemon("--upstream", router.url, "--max-body-bytes", "5000")
    with Client(daemon) as client:
        assert client.submit([1] * 1000)

        answer = client.post("asample", client.sample_body([1] * 10_000))

    assert answer.status == 413
    assert len(router.wait_for(1)) == 1


def test_pipelined_requests_are_answered_in_order(daemon):
    paths = [API + "healthz", "/nothing", "/", API + "samplers/x", API + "healthz"]
    requests = b"".join(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() for path in paths[:-1])
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=10) as connection:
        connection.sendall(requests + f"GET {paths[-1]} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        received = b"".join(iter(lambda: connection.recv(65536), b""))

    assert [part[:3] for part in received.split(b"HTTP/1.1 ")[1:]] == [b"200", b"404", b"200", b"404", b"200"]
