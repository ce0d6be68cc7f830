# SPDX-License-Identifier: Apache-2.0
"""What goes to vLLM, byte for byte as server-contract.md §4.2 has it."""

import json
from pathlib import Path

import pytest

from replay_router import Gate, holds, replays
from support.captures import capture
from support.client import Client

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
KEYS = ["model", "prompt", "n", "seed", "max_tokens", "temperature", "top_p", "top_k", "logprobs", "stream", "return_token_ids"]


def forwarded(name, client, router, **changes):
    """Submits a recorded asample; returns the request that reached the router."""
    body = {**json.loads((VECTORS / f"{name}.json").read_bytes()), "sampling_session_id": client.sampler, **changes}
    answer = client.post("asample", body)
    assert answer.status == 200, answer.body
    return router.wait_for(1)[0]


def test_a_plain_sample(client, router):
    request = forwarded("asample_max_tokens", client, router, seq_id=17)

    assert request.line == "POST /v1/completions HTTP/1.1"
    assert request.body == (
        b'{"model":"tiny","prompt":[1,2,3,4],"n":1,"seed":null,"max_tokens":8,"temperature":1.0,"top_p":1.0,"top_k":-1,'
        b'"logprobs":1,"stream":false,"return_token_ids":true}'
    )
    assert request.header("x-session-id") == f"{client.sampler}:17"
    assert request.header("content-type") == "application/json"
    assert request.header("accept") == "*/*"
    assert request.header("host") == f"127.0.0.1:{router.port}"
    assert request.header("authorization") is None and request.header("x-api-key") is None


def test_a_sample_with_every_option(client, router):
    body = capture("direct/ok-n4-max16")
    router.on([1, 2, 3, 4], replays(body))

    request = forwarded("asample_full", client, router)

    assert [key for key, _ in request.pairs] == [*KEYS, "prompt_logprobs", "stop"]
    assert request.json == {
        "model": "tiny",
        "prompt": [1, 2, 3, 4],
        "n": 4,
        "seed": 42,
        "max_tokens": 16,
        "temperature": 0.7,
        "top_p": 0.95,
        "top_k": 50,
        "logprobs": 1,
        "stream": False,
        "return_token_ids": True,
        "prompt_logprobs": 5,
        "stop": ["\n\n", "END"],
    }
    assert type(request.json["logprobs"]) is int, "the router refuses a boolean"


def test_chunks_are_joined_in_order(client, router):
    assert forwarded("asample_multi_chunk", client, router).json["prompt"] == [1, 2, 3]


def test_an_empty_prompt_is_vllms_to_refuse(client, router):
    router.on([], replays(capture("direct/err-prompt-empty-list")))

    answer = client.post(
        "asample", {**json.loads((VECTORS / "asample_empty_prompt.json").read_bytes()), "sampling_session_id": client.sampler}
    )

    failure = client.outcome(answer.json["request_id"]).json
    assert failure["category"] == "user" and "at least one prompt" in failure["error"]


@pytest.mark.parametrize(
    ("name", "key", "text"),
    [
        ("asample_stop_string", "stop", b'"stop":["\\n"]'),
        ("asample_stop_strings_unicode", "stop", '"stop":["</s>","é","日本"]'.encode()),
        ("asample_stop_ids", "stop_token_ids", b'"stop_token_ids":[128001,128009]'),
    ],
)
def test_stops(name, key, text, client, router):
    request = forwarded(name, client, router)

    assert [name for name, _ in request.pairs] == [*KEYS, key]
    assert text in request.body


def test_an_empty_stop_list_stops_at_nothing(client, router):
    request = forwarded("asample_stop_empty", client, router)

    assert [name for name, _ in request.pairs] == [*KEYS, "ignore_eos"]
    assert request.json["ignore_eos"] is True


@pytest.mark.parametrize(
    ("name", "seed"), [("asample_seed_negative", b'"seed":-7,'), ("asample_greedy_seed_i64", b'"seed":9223372036854775813,')]
)
def test_a_seed_is_sent_as_it_came(name, seed, client, router):
    assert seed in forwarded(name, client, router).body


def test_prompt_logprobs_alone_ask_for_none_besides(client, router):
    request = forwarded("asample_compute_logprobs", client, router)

    assert [name for name, _ in request.pairs] == [*KEYS, "prompt_logprobs"]
    assert request.json["prompt_logprobs"] == 0


def test_a_path_prefix_of_the_upstream_is_kept(start_daemon, router):
    with Client(start_daemon("--upstream", f"{router.url}/pool-a")) as client:
        client.sample([3])

    assert router.requests[0].line == "POST /pool-a/v1/completions HTTP/1.1"


def test_at_most_so_many_connections_and_turns_by_session(start_daemon, router):
    daemon = start_daemon("--upstream", router.url, "--forwarding-inference-max-connections", "4")
    gate = Gate()
    router.default = holds(gate, replays(capture("direct/ok-n1-max1")))
    with Client(daemon) as burst, Client(daemon) as evaluation:
        many = [burst.submit([1, number]) for number in range(40)]
        router.wait_for(4)
        few = [evaluation.submit([2, number]) for number in range(4)]
        assert len(router.requests) == 4

        gate.open()

        assert all(burst.outcome(one).sample for one in many) and all(evaluation.outcome(one).sample for one in few)
    order = [request.json["prompt"][0] for request in router.requests]
    assert max(request.connection for request in router.requests) == 4
    last_of_the_few = len(order) - 1 - order[::-1].index(2)
    assert last_of_the_few <= 16, "the short queue takes every other turn, it does not wait for all 40"
