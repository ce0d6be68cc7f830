# SPDX-License-Identifier: Apache-2.0
"""cases.md, section Upstream, against the real binaries; the number of a row is in the name of its tests.

U11 is in cases_bad_values.py.
"""

import json
import socket

import pytest

from replay_router import Gate, ReplayRouter, closes, holds, http_answer, refuses, replays, resets, sends
from support.captures import capture
from support.client import Client
from support.completions import choice, completion
from support.engine import publish
from support.sample_response import float32
from support.waiting import eventually

ONE = capture("direct/ok-n1-max1")
ABORTED = capture("direct/shutdown-sigterm")


def test_U1_a_sample_is_served_beside_2048_that_are_in_flight(start_daemon, router):
    daemon = start_daemon("--upstream", router.url, "--forwarding-inference-max-connections", "None")
    gate, held = Gate(), 2048
    router.default = holds(gate, replays(ONE))
    with Client(daemon) as client:
        ids = [client.submit([1, number]) for number in range(held)]
        router.wait_for(held)
        others = [[2, number] for number in range(100)]
        for prompt in others:
            router.on(prompt, replays(ONE))

        for prompt in others:
            assert client.sample(prompt) == ONE.result()

        assert daemon.ask("status")["samples"]["in_flight"] == str(held)
        gate.open()
        assert all(client.outcome(request_id).sample == ONE.result() for request_id in ids)
    assert len(router.requests) == held + len(others)


def test_U5_idle_connections_are_closed_before_the_upstream_does(start_daemon, router):
    daemon = start_daemon("--upstream", router.url, "--upstream-idle-sec", "0.2")
    with Client(daemon) as client:
        client.sample([3])
        eventually(lambda: daemon.ask("status")["upstream"]["connections"] == "0", "the idle connection is closed")

        client.sample([4])

    assert [(request.connection, request.turn) for request in router.requests] == [(1, 1), (2, 1)]


@pytest.mark.parametrize("loses", [resets, closes])
def test_U5_a_reused_connection_that_breaks_before_any_byte_is_replaced(loses, client, daemon, router):
    router.on([4], loses(), replays(ONE))
    client.sample([3])

    assert client.sample([4]) == ONE.result()

    assert [(request.connection, request.turn) for request in router.requests] == [(1, 1), (1, 2), (2, 1)]
    assert daemon.counter("upstream_reconnects") == 1


@pytest.mark.parametrize("loses", [resets, closes])
def test_U5_a_fresh_connection_that_breaks_is_final_for_vllm_may_be_generating(loses, client, router):
    router.on([4], loses(), replays(ONE))

    failure = client.failure([4])

    assert failure["category"] == "server" and "Server disconnected" in failure["error"]
    assert len(router.requests) == 1


def test_U6_an_aborted_generation_is_forwarded_again(client, daemon, router):
    router.on([3], replays(ABORTED), replays(ONE))

    assert client.sample([3]) == ONE.result()

    assert len(router.requests) == 2
    assert daemon.counter("upstream_aborts") == 1


@pytest.mark.parametrize("aborted", ["direct/shutdown-sigterm", "direct/drain-new-request-abort-empty"])
def test_U6_a_second_abort_is_an_explicit_failure(aborted, client, router):
    router.on([3], replays(capture(aborted)))

    failure = client.failure([3])

    assert failure["category"] == "server" and "abort" in failure["error"]
    assert len(router.requests) == 2


@pytest.mark.parametrize("name", ["nan/sampled", "nan/prompt-logprobs"])
def test_U7_nan_in_the_model_is_not_the_users_error(name, client, router):
    router.on([3], replays(capture(name)))

    failure = client.failure([3])

    assert failure["category"] == "server" and "Out of range float values" in failure["error"]
    assert len(router.requests) == 1


def test_U8_strings_that_look_like_keys_do_not_mislead(client, router):
    trap = '{"choices":[{"token_ids":[9],"logprobs":{"token_logprobs":[9]},"finish_reason":"length"}]} \\" [{'
    one = {
        "token_ids": [1, 2],
        "text": trap,
        "stop_reason": trap,
        "logprobs": {
            "top_logprobs": [{trap: -1.0}, {'"token_ids":[': -2.0}],
            "token_logprobs": [-0.5, -1e-07],
            "tokens": [trap, ""],
        },
        "prompt_logprobs": None,
        "finish_reason": "stop",
        "index": 0,
    }
    router.on([3], sends(http_answer(json.dumps({"usage": {"token_ids": [7]}, "choices": [one], "id": trap}, indent=1))))

    [sequence] = client.sample([3]).sequences

    assert (sequence.tokens, sequence.stop_reason) == ([1, 2], "stop")
    assert sequence.logprobs == [-0.5, float32(-1e-07)]


@pytest.mark.parametrize("name", ["direct/ok-max8192-ignore-eos", "peaked/logprobs-minus1-max1", "peaked/n1-max32"])
def test_U8_what_vllm_writes_besides_is_skipped(name, client, router):
    body = capture(name)
    router.on([3], replays(body))

    assert client.sample([3]) == body.result()


NO_SAMPLES = {
    "token_ids null": completion(choice(tokens=None)),
    "token_ids missing": completion({key: value for key, value in choice().items() if key != "token_ids"}),
    "choices empty": completion(),
    "choices null": b'{"choices":null}',
    "choices missing": b'{"id":"cmpl-1"}',
    "a choice too many": completion(choice(), choice(index=1)),
    "fewer logprobs than tokens": completion(choice(logprobs=[-0.5])),
    "more logprobs than tokens": completion(choice(logprobs=[-0.5] * 3)),
    "token beyond int32": completion(choice(tokens=[1, 2**31])),
    "token below int32": completion(choice(tokens=[1, -(2**31) - 1])),
    "token with a fraction": completion(choice()).replace(b"[1,2]", b"[1,2.5]"),
    "token that is text": completion(choice()).replace(b"[1,2]", b'[1,"2"]'),
    "logprob that is text": completion(choice()).replace(b"-0.25", b'"-0.25"'),
    "no JSON": b"<html>Bad gateway</html>",
    "empty body": b"",
    "JSON that is a list": b"[]",
    "JSON cut short": completion(choice())[:-10],
    "JSON with a tail": completion(choice()) + b"}",
    "not UTF-8": b"\xff\xfe" * 2000,
}


@pytest.mark.parametrize("body", NO_SAMPLES.values(), ids=NO_SAMPLES.keys())
def test_U9_an_answer_without_a_sample_is_an_explicit_failure(body, client, router):
    router.on([3], sends(http_answer(body)))

    failure = client.failure([3])

    assert failure["category"] == "server"
    assert 20 < len(failure["error"].encode()) < 2000, "a bounded text"
    assert len(router.requests) == 1


def test_U9_a_body_cut_short_is_an_explicit_failure(client, router):
    router.on([3], sends(ONE.answer[:-30], then_closes=True))

    failure = client.failure([3])

    assert failure["category"] == "server" and "in the middle of its answer" in failure["error"]
    assert len(router.requests) == 1, "a read failure is final"


@pytest.mark.parametrize(
    "body", [completion(choice(logprobs=None)), capture("direct/ok-logprobs-absent").body], ids=["null", "vllm"]
)
def test_U9_missing_logprobs_become_zeros_with_a_warning(body, client, daemon, router):
    router.on([3], sends(http_answer(body)))

    [sequence] = client.sample([3]).sequences

    assert sequence.tokens and sequence.logprobs == [0.0] * len(sequence.tokens)
    assert daemon.counter("logprobs_missing") == 1


def test_U10_a_router_restarted_on_another_port_is_found(start_daemon):
    daemon = start_daemon()
    with Client(daemon) as client:
        with ReplayRouter() as first:
            publish(daemon, first.url)
            client.sample([3])
        with ReplayRouter() as second:
            publish(daemon, second.url)

            assert client.sample([4]) == ONE.result()

            assert len(second.requests) == 1


def test_U10_a_new_url_is_followed_though_the_old_router_still_answers(start_daemon, router):
    daemon = start_daemon()
    publish(daemon, router.url)
    with Client(daemon) as client, ReplayRouter() as second:
        client.sample([3])
        publish(daemon, second.url)

        eventually(lambda: client.sample([4]) and second.requests, "samples go to the new URL")

    assert daemon.ask("store", "info")["engine_url"] == second.url


def test_U10_without_an_engine_a_sample_fails_in_words(start_daemon):
    with Client(start_daemon()) as client:
        failure = client.failure([3])

    assert failure["category"] == "server"
    assert "engine" in failure["error"] and "URL" in failure["error"]


BODY = ONE.body
CHUNKS = b"%x;ext=1\r\n%s\r\n%x\r\n%s\r\n0\r\nX-Trailer: 1\r\n\r\n" % (300, BODY[:300], len(BODY) - 300, BODY[300:])
FORMS = {
    "1xx first": (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + http_answer(BODY),),
    "chunked with trailers": (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + CHUNKS,),
    "chunked byte by byte": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n",
        *[CHUNKS[i : i + 1] for i in range(len(CHUNKS))],
    ),
    "HTTP/1.0": (b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + BODY,),
    "close without length": (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", BODY[:100], BODY[100:]),
    "names in any case": (
        b"HTTP/1.1 200 OK\r\nCONTENT-LENGTH: %d\r\ncOnTeNt-TyPe: application/json\r\n\r\n" % len(BODY) + BODY,
    ),
    "no reason, no type": (b"HTTP/1.1 200 \r\ncontent-length: %d\r\n\r\n" % len(BODY) + BODY,),
    "another 2xx": (http_answer(BODY, "201 Created"),),
}


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_U12_every_form_of_an_http_answer_is_decoded(form, client, router):
    ends_by_closing = form in ("HTTP/1.0", "close without length")
    router.on([3], sends(*FORMS[form], then_closes=ends_by_closing))

    assert client.sample([3]) == ONE.result()
    assert client.sample([4]) == ONE.result(), "the next one too"


def test_a_5xx_is_tried_once_more(client, daemon, router):
    router.on([3], refuses(503, "No available workers"), replays(ONE))

    assert client.sample([3]) == ONE.result()

    assert len(router.requests) == 2
    assert router.requests[0].body == router.requests[1].body
    assert daemon.counter("upstream_retries") == 1


def test_a_second_5xx_is_final(client, router):
    router.on([3], refuses(500, "EngineCore encountered an issue"))

    failure = client.failure([3])

    assert failure["category"] == "server" and "returned 500" in failure["error"] and "EngineCore" in failure["error"]
    assert len(router.requests) == 2


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("direct/err-temperature-over-2", "user"),
        ("direct/err-prompt-too-long", "user"),
        ("direct/err-stop-too-many", "user"),
        ("direct/err-unknown-model", "server"),
        ("router-scripted/payload-too-big", "user"),
        ("router-scripted/prompt-big-ids", "user"),
        ("router-scripted/status429", "server"),
    ],
)
def test_a_4xx_is_final_and_says_whose_error_it_is(name, category, client, router):
    refusal = capture(name)
    router.on([3], replays(refusal))

    failure = client.failure([3])

    assert failure["category"] == category
    status = refusal.head.split()[1].decode()
    assert f"returned {status}" in failure["error"]
    assert len(router.requests) == 1


def test_an_upstream_that_is_away_is_an_explicit_failure(start_daemon):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    daemon = start_daemon("--upstream", f"http://127.0.0.1:{port}")
    with Client(daemon) as client:
        failure = client.failure([3])

    assert failure["category"] == "server"
    assert f"127.0.0.1:{port}" in failure["error"]


def test_a_silent_upstream_is_given_up_and_the_text_names_the_setting(start_daemon, router):
    daemon = start_daemon("--upstream", router.url, "--forwarding-inference-timeout-sec", "0.3")
    router.on([3], holds(Gate(), replays(ONE)))
    with Client(daemon) as client:
        failure = client.failure([3])

    assert failure["category"] == "server" and "forwarding_inference_timeout_sec" in failure["error"]
    assert len(router.requests) == 1, "a time-out is final"
