# SPDX-License-Identifier: Apache-2.0
"""cases.md, section Clients, against the real binaries; the number of a row is in the name of its tests.

C10 is in cases_bad_values.py, C12 in cases_slow_reader.py.
"""

import json
import signal
from pathlib import Path

import pytest

from replay_router import Gate, holds, replays
from support.captures import capture
from support.client import PROTOBUF, Client
from support.daemon import assert_nowhere_written
from support.waiting import eventually

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
ONE = capture("direct/ok-n1-max1")


@pytest.fixture
def held(router):
    """Prompt [1, 2] is answered when this gate opens."""
    gate = Gate()
    router.on([1, 2], holds(gate, replays(ONE)))
    return gate


def test_C1_a_result_that_lands_after_its_poller_left_is_kept_for_the_next_poll(start_daemon, router, held):
    daemon = start_daemon("--upstream", router.url, "--external-future-retrieved-ttl-sec", "1")
    with Client(daemon) as client, Client(daemon) as impatient:
        abandoned = client.submit([1, 2])
        impatient.send("POST", "/api/v1/retrieve_future", {"request_id": abandoned}, {"Accept": PROTOBUF})
        eventually(lambda: daemon.ask("status")["clients"]["polls_waiting"] == "1", "the poll waits")
        impatient.hang_up()
        eventually(lambda: daemon.ask("status")["clients"]["polls_waiting"] == "0", "the poll is gone")

        held.open()

        eventually(lambda: daemon.ask("futures", "show", abandoned)["state"] == "completed", "the result is here")
        delivered = client.submit([3])
        assert client.outcome(delivered).status == 200
        eventually(lambda: not daemon.holds(delivered), "the short clock has ended for a delivered result")
        assert client.poll(delivered).status == 410
        assert client.poll(abandoned).sample == ONE.result()


def test_C2_one_asample_on_many_connections_at_the_same_moment_is_one_sample(daemon, router, held):
    clients = [Client(daemon) for _ in range(16)]
    body = clients[0].sample_body([1, 2])

    for client in clients:
        client.send("POST", "/api/v1/asample", body)
    answers = [client.receive() for client in clients]

    assert {answer.status for answer in answers} == {200}
    assert len({answer.body for answer in answers}) == 1, "one future, with the same sequence ids"
    held.open()
    request_id = answers[0].json["request_id"]
    assert [client.outcome(request_id).sample for client in clients] == [ONE.result()] * len(clients)
    assert len(router.requests) == 1
    assert daemon.counter("samples_accepted") == 1
    assert daemon.counter("samples_duplicate") == len(clients) - 1


def test_C2_a_re_send_after_the_result_was_read_gets_the_same_future(client, router):
    body = client.sample_body([3])
    first = client.post("asample", body)
    result = client.outcome(first.json["request_id"]).sample

    again = client.post("asample", body)

    assert (again.status, again.body) == (200, first.body)
    assert client.outcome(again.json["request_id"]).sample == result
    assert len(router.requests) == 1


@pytest.mark.parametrize(
    "change", [{"num_samples": 2}, {"prompt_logprobs": True}, {"params": {"max_tokens": 17}}, {"prompt": [4]}]
)
def test_C2_other_content_under_a_used_seq_id_is_refused(change, client, router):
    client.submit([3], seq_id=5)

    answer = client.post("asample", client.sample_body(**{"prompt": [3], "seq_id": 5, **change}))

    assert answer.status == 400, "the SDK repeats a 409 for five minutes"
    assert "seq_id" in answer.detail


NO_IDS = [
    "",
    "s",
    "abc",
    "1",
    "-1",
    "s-1",
    "s+1",
    " s1",
    "s1 ",
    "s1_000",
    "s01",
    "s١٢",
    "s1.0",
    "s1e3",
    "S1",
    "s9223372036854775808",
    "s" + "9" * 400,
    "s1\x00",
    "../../etc/passwd",
]


@pytest.mark.parametrize("request_id", NO_IDS, ids=repr)
def test_C3_a_request_id_that_is_none_is_refused_at_once(request_id, client, daemon, held):
    with Client(daemon) as other:
        waiting = other.submit([1, 2])
        other.send("POST", "/api/v1/retrieve_future", {"request_id": waiting}, {"Accept": PROTOBUF})

        answer = client.poll(request_id)

        assert answer.status == 404
        assert len(answer.detail) < 300
        held.open()
        assert other.receive().sample == ONE.result(), "other waiters are unaffected"


@pytest.mark.parametrize("request_id", [1, -1, None, True, 1.5, ["s1"], {"a": "s1"}], ids=repr)
def test_C3_a_request_id_of_another_type_is_named(request_id, client):
    answer = client.poll(request_id)

    assert answer.status == 422
    assert [fault["loc"] for fault in answer.detail] == [["body", "request_id"]]


def test_C4_every_poll_is_answered_within_its_hold(start_daemon, router, held):
    daemon = start_daemon("--upstream", router.url, "--poll-hold-sec", "1")
    with Client(daemon) as client:
        request_id = client.submit([1, 2])
        pollers = [Client(daemon) for _ in range(20)]

        for poller in pollers:
            poller.send("POST", "/api/v1/retrieve_future", {"request_id": request_id}, {"Accept": PROTOBUF})
        answers = [poller.receive() for poller in pollers]

        assert {answer.status for answer in answers} == {408}
        assert answers[0].json == {
            "type": "try_again",
            "request_id": request_id,
            "queue_state": "active",
            "queue_state_reason": None,
        }
        held.open()
        assert client.outcome(request_id).sample == ONE.result()


def test_C4_a_poll_whose_sample_is_cancelled_is_answered(client, daemon, held):
    request_id = client.submit([1, 2])
    with Client(daemon) as poller:
        poller.send("POST", "/api/v1/retrieve_future", {"request_id": request_id}, {"Accept": PROTOBUF})
        eventually(lambda: daemon.ask("status")["clients"]["polls_waiting"] == "1", "the poll waits")

        assert client.post("cancel_future", {"request_id": request_id}).status == 200

        answer = poller.receive()
        assert answer.status == 200 and "cancelled" in answer.json["error"]


def test_C5_the_user_sees_that_the_server_waits_for_room(start_daemon, router, held):
    daemon = start_daemon("--upstream", router.url, "--poll-hold-sec", "0.2", "--forwarding-inference-max-connections", "1")
    with Client(daemon) as client:
        in_flight = client.submit([1, 2])
        router.wait_for(1)
        queued = client.submit([3])

        waits = client.poll(queued).json
        runs = client.poll(in_flight).json

        assert (waits["type"], waits["queue_state"]) == ("try_again", "paused_capacity")
        assert "free connection" in waits["queue_state_reason"]
        assert runs["queue_state"] == "active"


def test_C5_the_operator_sees_where_the_time_goes(client, daemon):
    for _ in range(3):
        client.sample([3])

    status = daemon.ask("status")

    stages = {stage["name"].split(":")[0]: int(stage["count"]) for stage in status["stages"]}
    assert stages == {"queue": 3, "upstream": 3, "pickup": 3}
    text = daemon.ctl("status").stdout
    assert "WHERE THE TIME GOES" in text and "from sent upstream to the whole answer" in text


def test_C6_no_poll_gets_5xx_or_429_whatever_happens(start_daemon, router, held):
    daemon = start_daemon("--upstream", router.url, "--poll-hold-sec", "0.2", "--max-outstanding", "1")
    answers = {}
    with Client(daemon) as client, Client(daemon) as last:
        router.on([4], replays(capture("direct/engine-killed")))
        answers["failed"] = client.outcome(client.submit([4]))
        held_sample = client.submit([1, 2])
        answers["held"] = client.poll(held_sample)
        assert client.post("asample", client.sample_body([5])).status == 429, "there is no room"
        answers["no room"] = client.poll(held_sample)
        assert daemon.ctl("drain").returncode == 0
        answers["draining"] = client.poll(held_sample)
        answers["unknown"] = client.poll("s1")
        answers["no id"] = client.poll("x")
        answers["no JSON"] = client.post("retrieve_future", b"{")
        answers["upstream gone"] = (router.close(), client.poll(held_sample))[1]
        last.send("POST", "/api/v1/retrieve_future", {"request_id": held_sample})
        daemon.process.send_signal(signal.SIGTERM)
        answers["stopping"] = last.receive()

    statuses = {when: answer.status for when, answer in answers.items()}
    assert {when: status for when, status in statuses.items() if status >= 500 or status == 429} == {}
    assert (statuses["held"], statuses["failed"], statuses["unknown"], statuses["no id"]) == (408, 200, 410, 404)


def test_C7_a_result_waits_long_for_a_client_that_does_not_poll(start_daemon, router):
    daemon = start_daemon("--upstream", router.url, "--external-future-retrieved-ttl-sec", "1")
    with Client(daemon) as client:
        unread = client.submit([3])
        read = client.submit([4])
        client.outcome(read)

        eventually(lambda: not daemon.holds(read), "the clock of a result that was read ends")

        assert daemon.ask("futures", "show", unread)["state"] == "completed"
        assert client.poll(unread).sample == ONE.result()


@pytest.mark.parametrize("how", ["as the SDK sends it", "not JSON", "text/plain"])
def test_C8_a_telemetry_body_is_counted_and_never_written(how, start_daemon, router):
    daemon = start_daemon("--upstream", router.url, "--log-level", "debug")
    secret = "tml-secret-in-a-traceback"
    event = {
        "event": "UNHANDLED_EXCEPTION",
        "event_id": "e",
        "event_session_index": 0,
        "severity": "ERROR",
        "timestamp": "2026-12-01T00:00:00Z",
        "properties": {"request_headers": {"x-api-key": secret}},
    }
    body = json.dumps({"events": [event], "platform": "Linux", "sdk_version": "0.38.0", "session_id": "s"}).encode()
    if how == "not JSON":
        body = body[:-5]
    headers = {"X-API-Key": secret, "Content-Type": "text/plain" if how == "text/plain" else "application/json"}
    with Client(daemon) as client:
        answer = client.request("POST", "/api/v1/telemetry", body, headers)

        assert (answer.status, answer.json) == (200, {"status": "accepted"})
        assert daemon.counter("telemetry_dropped") == 1
        eventually(lambda: "/api/v1/telemetry" in daemon.access_log.read_text(), "the access log has the line")
    daemon.stop()
    assert_nowhere_written(secret, daemon)


def recorded(version):
    """The requests of a real SDK's sampling, as recorded: {path: first request}."""
    wanted = ("create_session", "create_sampling_session", "asample", "retrieve_future")
    found = {}
    for line in (VECTORS / f"exchange_{version}.jsonl").read_text().splitlines():
        request = json.loads(line)["request"]
        name = request["target"].removeprefix("/api/v1/")
        if name in wanted:
            found.setdefault(name, request)
    assert set(found) == set(wanted)
    return found


@pytest.mark.parametrize("version", ["0.16.1", "0.18.0", "0.25.0", "0.38.0"])
def test_C9_what_each_sdk_sends_is_accepted_as_recorded(version, client, router):
    requests = recorded(version)

    def replay(name, **changes):
        headers = {key: value for key, value in requests[name]["headers"] if key.lower() not in ("host", "content-length")}
        body = json.loads(requests[name]["body"])
        return client.post(name, {**body, **{key: value for key, value in changes.items() if key in body}}, headers)

    session = replay("create_session").json["session_id"]
    sampler = replay("create_sampling_session", session_id=session).json["sampling_session_id"]
    accepted = replay("asample", sampling_session_id=sampler)
    request = router.wait_for(1)[0].json
    wanted = json.loads(requests["asample"]["body"])

    assert accepted.status == 200
    sequence_ids = accepted.json["sample_sequence_ids"]
    assert len(set(sequence_ids)) == wanted.get("num_samples", 1) and all(sequence_ids)
    defaults = {"temperature": 1.0, "top_k": -1, "top_p": 1.0}
    assert {key: request[key] for key in defaults} == {
        **defaults,
        **{k: v for k, v in wanted["sampling_params"].items() if k in defaults},
    }
    assert request["prompt"] == [token for chunk in wanted["prompt"]["chunks"] for token in chunk["tokens"]]
    poll = replay("retrieve_future", request_id=accepted.json["request_id"])
    assert poll.status in (200, 408)


def test_C9_nulls_and_missing_fields_get_their_defaults(client, router):
    sparse = {
        "prompt": {"chunks": [{"tokens": [8]}]},
        "sampling_params": {"max_tokens": 3, "seed": None, "stop": None, "temperature": None, "top_k": None, "top_p": None},
        "sampling_session_id": client.sampler,
        "seq_id": 0,
        "num_samples": None,
        "base_model": None,
        "model_path": None,
        "prompt_logprobs": None,
        "topk_prompt_logprobs": None,
        "type": None,
    }

    assert client.post("asample", sparse).status == 200

    asked = router.wait_for(1)[0].json
    assert (asked["n"], asked["seed"], asked["temperature"], asked["top_p"], asked["top_k"]) == (1, None, 1.0, 1.0, -1)
    assert "stop" not in asked and "prompt_logprobs" not in asked
