# SPDX-License-Identifier: Apache-2.0
"""What the newest SDK can ask of a sample reaches vLLM as the peer would ask it, and comes back through the SDK's decoder."""

import subprocess

import pytest

from replay_router import Gate, holds, replays
from support.captures import capture
from support.daemon import STOP_SEC, assert_nowhere_written
from support.sample_response import float32
from support.sdk import KEY, NEWEST, VERSIONS, expected_sequences, sample_with_sdk, sequences, start_sdk
from support.waiting import eventually


def narrowed(values):
    return [value if value is None else float32(value) for value in values]


def test_prompt_logprobs_and_their_top_5(daemon, router):
    body = capture("direct/ok-prompt-logprobs5")
    router.on(body.prompt, replays(body))

    [result] = sample_with_sdk(
        NEWEST, daemon, [{"prompt": body.prompt, "params": {"max_tokens": 4}, "prompt_logprobs": True, "topk": 5}]
    )

    right = body.result(topk=5)
    assert sequences(result) == expected_sequences(right)
    assert narrowed(result["prompt_logprobs"]) == right.prompt_logprobs
    rows = [row and [[token, float32(logprob)] for token, logprob in row] for row in result["topk"]]
    assert rows == right.topk_prompt_logprobs
    assert router.requests[0].json["prompt_logprobs"] == 5


@pytest.mark.parametrize("version", VERSIONS)
def test_compute_logprobs(version, daemon, router):
    body = capture("direct/ok-prompt-logprobs0")
    router.on(body.prompt, replays(body))

    [result] = sample_with_sdk(version, daemon, [{"prompt": body.prompt, "compute_logprobs": True}])

    assert narrowed(result["logprobs"]) == body.result().prompt_logprobs
    asked = router.requests[0].json
    assert (asked["prompt_logprobs"], asked["max_tokens"]) == (0, 1)


@pytest.mark.parametrize(
    ("stop", "key", "value", "answer"),
    [
        ("\n\n", "stop", ["\n\n"], "direct/ok-stop-string"),
        (["</s>", "é", "日本"], "stop", ["</s>", "é", "日本"], "direct/ok-stop-string"),
        ([875, 2], "stop_token_ids", [875, 2], "direct/ok-stop-token"),
        ([], "ignore_eos", True, "direct/ok-eos-bias-ignore-eos"),
    ],
    ids=["string", "strings", "token_ids", "nothing"],
)
def test_stops(stop, key, value, answer, daemon, router):
    body = capture(answer)
    router.on([1, 2], replays(body))

    [result] = sample_with_sdk(NEWEST, daemon, [{"prompt": [1, 2], "params": {"max_tokens": 8, "stop": stop}}])

    assert sequences(result) == expected_sequences(body.result())
    asked = router.requests[0].json
    assert asked[key] == value
    assert {"stop", "stop_token_ids", "ignore_eos"} & set(asked) == {key}


def test_four_samples_of_one_prompt(daemon, router):
    body = capture("direct/ok-n4-max16")
    router.on([1, 2], replays(body))

    [result] = sample_with_sdk(NEWEST, daemon, [{"prompt": [1, 2], "params": {"max_tokens": 16}, "num_samples": 4}])

    assert sequences(result) == expected_sequences(body.result())
    assert len(result["sequences"]) == 4
    assert [request.json["n"] for request in router.requests] == [4]


def test_seeds_reach_vllm_as_sent(daemon, router):
    seeds = [None, 0, -7, 2**63 - 1, 2**63 + 5, 10**30]
    calls = [{"prompt": [3, number], "params": {"max_tokens": 1, "seed": seed}} for number, seed in enumerate(seeds)]

    sample_with_sdk(NEWEST, daemon, calls)

    assert [router.asked([3, number])[0].json["seed"] for number in range(len(seeds))] == seeds


def test_a_refusal_of_vllm_is_the_users_error(daemon, router):
    router.on([1, 2], replays(capture("direct/err-temperature-over-2")))

    [result] = sample_with_sdk(NEWEST, daemon, [{"prompt": [1, 2], "params": {"max_tokens": 8, "temperature": 2.5}}])

    assert "RequestFailedError" in result["error"] and "temperature" in result["error"]


def test_a_cancelled_sample_frees_its_place_upstream(daemon, router):
    gate = Gate()
    router.on([1, 2], holds(gate, replays(capture("direct/ok-n1-max1"))))
    sdk = start_sdk(NEWEST, "cancel.py", daemon, stdin=subprocess.PIPE)
    try:
        [request] = router.wait_for(1)
        # The SDK cancels what it knows the id of: once it polls.
        eventually(lambda: int(daemon.ask("status")["clients"]["polls_waiting"]) == 1, "the SDK polls")

        sdk.stdin.write("cancel\n")
        sdk.stdin.flush()

        eventually(lambda: request.client_left, "tinkerd closes the request to vLLM")
        eventually(lambda: daemon.counter("samples_cancelled") == 1, "the cancelled sample is counted")
        sdk.stdin.close()
        assert sdk.wait(STOP_SEC) == 0
    finally:
        sdk.kill()
        sdk.wait()
    assert len(router.requests) == 1


def test_a_session_beats_reports_and_finishes(daemon, router):
    sdk = start_sdk(NEWEST, "session_life.py", daemon, stdin=subprocess.PIPE)
    try:
        eventually(lambda: daemon.counter("telemetry_dropped") > 0, "the SDK posts telemetry, 10 s after its start")
        eventually(lambda: int(daemon.ask("sessions", "list")["sessions"][0]["heartbeats"]) > 0, "the SDK's first heartbeat")
        sdk.stdin.close()
        assert sdk.wait(STOP_SEC) == 0
    finally:
        sdk.kill()
        sdk.wait()

    [session] = daemon.ask("sessions", "list")["sessions"]
    assert (session["sdk_version"], session["sampling_sessions"]) == (NEWEST, "1")
    finish = f"/api/v1/sessions/{session['id']}/finish"
    eventually(lambda: finish in daemon.access_log.read_text(), "the finish in the access log")
    lines = daemon.access_log.read_text().splitlines()
    assert [line for line in lines if finish in line and " 204 " in line]
    assert not [line for line in lines if "/api/v1/session_heartbeat" in line and " 200 " not in line]
    assert_nowhere_written(KEY, daemon)
