# SPDX-License-Identifier: Apache-2.0
"""What each endpoint answers: the peer's checks in its order, and what the SDK reads (server-contract.md §1.3, wire.md §3)."""

import json

import pytest

from replay_router import Gate, holds, replays
from support.captures import capture
from support.client import API, PROTOBUF, Client
from support.engine import rows


def new_session(client):
    return client.post("create_session", {"sdk_version": "0.38.0"}).json["session_id"]


# --- service


def test_client_config_switches_on_what_the_sdk_knows(client):
    for body, many, join in (
        (b"", False, False),
        (b"{", False, False),
        ({"sdk_version": "0.25.0"}, False, False),
        ({"sdk_version": "0.27.0"}, True, False),
        ({"sdk_version": "0.38.0"}, True, True),
    ):
        answer = client.post("client/config", body)
        assert (answer.status, answer.json) == (
            200,
            {
                "pjwt_auth_enabled": False,
                "sample_max_concurrent_requests": 2000,
                "sample_use_retrieve_futures": many,
                "sample_join_sampling_session": join,
            },
        )


def test_client_config_serves_the_live_setting(client, daemon):
    assert daemon.ctl("config", "set", "sample_max_concurrent_requests", "64").returncode == 0

    assert client.post("client/config", {}).json["sample_max_concurrent_requests"] == 64


def test_dynamic_config_lets_samples_be_cancelled(client):
    answer = client.post("client/dynamic_config", {"sdk_version": "0.38.0"})

    assert (answer.status, answer.json) == (200, {"refresh_interval_sec": 300, "sample_cancel_enabled": True})


def test_service_answers(client):
    assert client.get(API + "healthz").body == b'{"status":"ok"}'
    assert client.get(API + "get_server_capabilities").body == b'{"supported_models":[{"model_name":"tiny"}]}'
    assert client.post("telemetry", {"events": []}).body == b'{"status":"accepted"}'
    assert {"name", "version", "endpoints"} <= set(client.get("/").json)


# --- sessions


def test_create_session(client, daemon):
    answer = client.post(
        "create_session",
        {
            "tags": ["b", "a"],
            "user_metadata": {"run": 7},
            "sdk_version": "0.38.0",
            "project_id": None,
            "type": "create_session",
        },
    )

    session = answer.json["session_id"]
    assert answer.status == 200
    assert list(answer.json.items())[:4] == [
        ("type", "create_session"),
        ("info_message", None),
        ("warning_message", None),
        ("error_message", None),
    ]
    [row] = rows(daemon, "sessions")
    assert (row["session_id"], row["sdk_version"], row["status"], row["heartbeat_count"]) == (session, "0.38.0", "active", 0)
    assert (json.loads(row["tags"]), json.loads(row["user_metadata"]), row["last_heartbeat_at"]) == (
        ["b", "a"],
        {"run": 7},
        None,
    )
    assert len(row["created_at"]) == len("2026-12-01 00:00:00.000000")


@pytest.mark.parametrize(("field", "value"), [("tags", "a"), ("tags", [1]), ("user_metadata", []), ("sdk_version", 1)])
def test_create_session_names_a_bad_field(field, value, client, daemon):
    answer = client.post("create_session", {"sdk_version": "1", field: value})

    assert answer.status == 422
    assert answer.detail[0]["loc"][:2] == ["body", field]
    assert rows(daemon, "sessions") == []


def test_session_heartbeat(client, daemon):
    session = new_session(client)
    for _ in range(3):
        answer = client.post("session_heartbeat", {"session_id": session, "type": "session_heartbeat"})
        assert (answer.status, answer.body) == (200, b'{"type":"session_heartbeat"}')

    [row] = rows(daemon, "sessions")
    assert row["heartbeat_count"] == 3 and row["last_heartbeat_at"]
    unknown = client.post("session_heartbeat", {"session_id": "session_0"})
    assert (unknown.status, unknown.detail) == (404, "Session not found")


def test_finish_session(client):
    body = {"reason": {"type": "success"}, "detail": None}
    answer = client.post(f"sessions/{new_session(client)}/finish", body)

    assert (answer.status, answer.body) == (204, b"")
    unknown = client.post("sessions/session_0/finish", body)
    assert (unknown.status, unknown.detail) == (404, "Session not found")


def test_create_sampling_session(client, daemon):
    session = new_session(client)
    wanted = {"session_id": session, "sampling_session_seq_id": 3, "base_model": "tiny", "type": "create_sampling_session"}

    answer = client.post("create_sampling_session", wanted)

    sampler = answer.json["sampling_session_id"]
    assert (answer.status, answer.json) == (200, {"type": "create_sampling_session", "sampling_session_id": sampler})
    [row] = rows(daemon, "sampling_sessions")
    assert (row["sampling_session_id"], row["session_id"], row["sampling_session_seq_id"]) == (sampler, session, 3)
    assert (row["base_model"], row["model_path"]) == ("tiny", None)
    again = client.post("create_sampling_session", wanted)
    assert again.json["sampling_session_id"] != sampler, "each call makes a new one"


@pytest.mark.parametrize("source", [{}, {"base_model": "tiny", "model_path": "tinker://m/sampler_weights/c"}])
def test_create_sampling_session_needs_exactly_one_source(source, client, daemon):
    wanted = {"session_id": new_session(client), "sampling_session_seq_id": 0, **source}

    answer = client.post("create_sampling_session", wanted)

    assert (answer.status, answer.detail) == (400, "Exactly one of base_model or model_path must be provided")
    unknown = client.post("create_sampling_session", {**wanted, "session_id": "session_0"})
    assert (unknown.status, unknown.detail) == (404, "Session not found")
    assert rows(daemon, "sampling_sessions") == []


def test_join_sampling_session_numbers_its_clients(client):
    joined = [client.post("join_sampling_session", {"sampling_session_id": client.sampler}).json for _ in range(3)]

    assert {answer["type"] for answer in joined} == {"join_sampling_session"}
    counters = [answer["client_counter"] for answer in joined]
    assert len(set(counters)) == 3 and all(1 <= counter <= 10**9 for counter in counters)
    unknown = client.post("join_sampling_session", {"sampling_session_id": "sampling_0"})
    assert (unknown.status, unknown.detail) == (404, "Sampling session not found")


def test_get_sampler(client):
    answer = client.get(API + f"samplers/{client.sampler}")

    assert (answer.status, answer.json) == (200, {"sampler_id": client.sampler, "base_model": "tiny", "model_path": None})
    unknown = client.get(API + "samplers/sampling_0")
    assert (unknown.status, unknown.detail) == (404, "Sampler not found")


# --- samples


def test_asample_promises_a_sequence_id_for_each_sample(client):
    answer = client.post("asample", client.sample_body([1, 2], num_samples=3))

    request_id = answer.json["request_id"]
    assert answer.json == {
        "future_id": request_id,
        "status": "pending",
        "request_id": request_id,
        "sample_sequence_ids": [f"{request_id}-{n}" for n in range(3)],
    }


def test_asample_for_an_unknown_sampling_session_is_404(client, router):
    answer = client.post("asample", {**client.sample_body([1]), "sampling_session_id": "sampling_0"})

    assert (answer.status, answer.detail) == (404, "Sampling session not found")
    assert router.requests == []


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ({"sampling_session_id": "x"}, "'seq_id' must be provided when 'sampling_session_id' is used"),
        ({}, "When 'sampling_session_id' is not provided, exactly one of 'base_model' or 'model_path' must be provided"),
        (
            {"base_model": "tiny", "model_path": "tinker://m/c"},
            "When 'sampling_session_id' is not provided, exactly one of 'base_model' or 'model_path' must be provided",
        ),
    ],
)
def test_asample_needs_one_target(target, text, client):
    answer = client.post("asample", {"prompt": {"chunks": []}, "sampling_params": {"max_tokens": 1}, **target})

    [fault] = answer.detail
    assert answer.status == 422
    assert (fault["type"], fault["loc"], fault["msg"], fault["ctx"]) == (
        "value_error",
        ["body"],
        f"Value error, {text}",
        {"error": {}},
    )


def test_asample_without_a_sampling_session(client, router):
    body = {
        "base_model": "tiny",
        "prompt": {"chunks": [{"type": "encoded_text", "tokens": [5]}]},
        "sampling_params": {"max_tokens": 1},
    }

    answer = client.post("asample", body)

    assert client.outcome(answer.json["request_id"]).sample
    assert router.requests[0].header("x-session-id") is None


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        (PROTOBUF, PROTOBUF),
        ("application/x-protobuf, application/json", PROTOBUF),
        ("application/json", "application/json"),
        ("*/*", "application/json"),
    ],
)
def test_the_form_of_a_result_follows_accept(accept, content_type, client, router):
    body = capture("direct/ok-prompt-logprobs2-n2")
    router.on(body.prompt, replays(body))

    request_id = client.submit(body.prompt, num_samples=2, prompt_logprobs=True, topk_prompt_logprobs=2)
    answer = client.outcome(request_id, accept)

    right = body.result(topk=2)
    assert (answer.status, answer.headers["content-type"]) == (200, content_type)
    if content_type == PROTOBUF:
        assert answer.sample == right
    else:
        assert answer.json == {
            "type": "sample",
            "sequences": [vars(sequence) for sequence in right.sequences],
            "prompt_logprobs": right.prompt_logprobs,
            "topk_prompt_logprobs": right.topk_prompt_logprobs,
        }


def test_a_large_result_is_announced_to_clients_that_allow_it(start_daemon, router):
    daemon = start_daemon("--upstream", router.url, "--metadata-only-bytes", "20")
    router.on([4], replays(capture("direct/ok-n1-max64")))
    with Client(daemon) as client:
        small, large = client.submit([3]), client.submit([4])
        right = client.outcome(large)
        assert client.outcome(small).sample

        announced = client.poll(large, allow_metadata_only=True)
        fetched = client.poll(large, allow_metadata_only=False)

        assert announced.json == {"status": "complete_metadata", "response_payload_size": len(right.body)}
        assert fetched.body == right.body
        assert client.poll(small, allow_metadata_only=True).sample == capture("direct/ok-n1-max1").result()


def test_a_result_can_be_fetched_again(client):
    request_id = client.submit([3])

    assert len({client.outcome(request_id).body for _ in range(3)}) == 1


def test_an_id_of_another_life_is_410_so_that_the_sdk_submits_again(client):
    answer = client.poll("s1")

    assert answer.status == 410
    assert "submit" in answer.detail


def test_cancel_future_is_a_success_whatever_the_id(client, router):
    router.on([1, 2], holds(Gate(), replays(capture("direct/ok-n1-max1"))))
    live, done = client.submit([1, 2]), client.submit([3])
    client.outcome(done)

    assert [client.post("cancel_future", {"request_id": one}).status for one in (live, live, done, "s1", "no id", "")] == [
        200
    ] * 6

    assert client.outcome(done).sample, "a result that is here stays"
    failure = client.poll(live)
    assert failure.status == 200 and failure.json["category"] == "user"


def test_drain_refuses_new_samples_and_serves_the_rest(client, daemon, router):
    gate = Gate()
    router.on([1, 2], holds(gate, replays(capture("direct/ok-n1-max1"))))
    body = client.sample_body([1, 2])
    accepted = client.post("asample", body)
    assert daemon.ctl("drain").returncode == 0

    refused = client.post("asample", client.sample_body([3]))

    assert refused.status == 429 and refused.headers["retry-after"]
    assert client.post("asample", body).body == accepted.body, "a re-send is no new sample"
    gate.open()
    assert client.outcome(accepted.json["request_id"]).sample
    assert daemon.ctl("resume").returncode == 0
    assert client.sample([3])
