# SPDX-License-Identifier: Apache-2.0
"""One poll for all samples of a client: retrieve_futures, by hand and by the SDK."""

import signal
import subprocess

import pytest

from replay_router import Gate, holds, replays
from support.captures import capture
from support.client import Client
from support.sdk import NEWEST, sample_with_sdk, sequences, start_sdk
from support.waiting import eventually

ONE = capture("direct/ok-n1-max1")
FIRST_STAMP = 1_000_000


def polls(daemon, results):
    """The paths of the polls in the access log, once each result has been fetched there."""

    def paths():
        found = [line.split()[3] for line in daemon.access_log.read_text().splitlines()]
        return found if found.count("/api/v1/retrieve_future") >= results else None

    return eventually(paths, "the access log is written")


def poll_many(client, cursor=0, **more):
    target = {"type": "sampling_session", "sampling_session_id": client.sampler, "cloned_sampler_id": 0}
    return client.post("retrieve_futures", {"target": target, "prev_cursor": cursor, **more})


def test_ended_samples_are_told_fetched_and_freed(client, daemon):
    ids = [client.submit([number]) for number in range(10)]
    told, cursor = [], 0
    while len(told) < len(ids):
        answer = poll_many(client, cursor).json
        told += [one["request_id"] for one in answer["completions"]]
        assert answer["cursor"] > cursor
        cursor = answer["cursor"]
    assert sorted(told) == sorted(ids)
    for request_id in ids:
        assert client.poll(request_id).sample == ONE.result()

    poll_many(client, cursor, timeout=0, retrieved_request_ids=ids)

    assert daemon.futures() == 0


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_answers_held_polls_with_nothing_new(how, daemon, router):
    router.on([1], holds(Gate(), replays(ONE)))
    with Client(daemon) as client, Client(daemon) as poller:
        client.submit([1])
        poller._sampler = client.sampler
        poller.send("POST", "/api/v1/retrieve_futures", {"target": {"sampling_session_id": client.sampler}, "prev_cursor": 41})
        eventually(lambda: daemon.ask("status")["clients"]["polls_waiting"] == "1", "the poll waits")

        daemon.process.send_signal(how)
        answer = poller.receive()

        assert (answer.status, answer.json) == (200, {"completions": [], "cursor": 41})
        assert daemon.process.wait(10) == 0


def test_a_cursor_of_the_last_run_loses_nothing_in_the_next(start_daemon, router):
    daemon = start_daemon("--upstream", router.url)
    with Client(daemon) as client:
        client.submit([1])
        cursor, sampler = poll_many(client).json["cursor"], client.sampler
    daemon.stop(signal.SIGKILL)
    daemon.start("--upstream", router.url)

    with Client(daemon) as client:
        client._sampler = sampler
        request_id = client.submit([2], seq_id=1)
        answer = poll_many(client, cursor).json

    assert [one["request_id"] for one in answer["completions"]] == [request_id]
    assert answer["cursor"] > cursor


def test_clones_sample_side_by_side(daemon, router):
    clients, samples = 4, 20
    for client in range(clients):
        for number in range(samples):
            router.on([client, number], replays(ONE, FIRST_STAMP + 100 * client + number))

    sdk = start_sdk(NEWEST, "clones.py", daemon, stdout=subprocess.PIPE)
    try:
        out, _ = sdk.communicate(timeout=60)
    finally:
        sdk.kill()
        sdk.wait()

    stamps = [[FIRST_STAMP + 100 * client + number for number in range(samples)] for client in range(clients)]
    assert out == str(stamps)
    assert len(router.requests) == clients * samples


def test_a_sample_of_one_worker_wakes_the_poll_of_another(start_daemon, router):
    daemon = start_daemon("--upstream", router.url, "--workers", "3")
    calls = [{"prompt": [7, number], "params": {"max_tokens": 4}} for number in range(300)]
    for number in range(len(calls)):
        router.on([7, number], replays(ONE, FIRST_STAMP + number))

    results = sample_with_sdk(NEWEST, daemon, calls)

    assert [sequences(result)[0][1][0] for result in results] == [FIRST_STAMP + number for number in range(len(calls))]
    assert daemon.counter("polls_held") == 0, "nobody waited for the end of a hold"


def test_a_client_lives_through_a_restart(start_daemon, router):
    daemon = start_daemon("--upstream", router.url)
    port = daemon.port
    sdk = start_sdk(NEWEST, "two_lives.py", daemon, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert sdk.stdout.readline() == "sampled\n"
        daemon.stop()
        daemon.start("--upstream", router.url, f"--port={port}")
        sdk.stdin.write("go on\n")
        sdk.stdin.flush()
        assert sdk.stdout.readline() == "sampled\n"
    finally:
        sdk.kill()
        sdk.wait()


@pytest.mark.parametrize(
    ("version", "setting", "many"), [(NEWEST, "true", True), (NEWEST, "false", False), ("0.25.0", "true", False)]
)
def test_only_who_knows_it_polls_for_many(version, setting, many, start_daemon, router):
    daemon = start_daemon("--upstream", router.url, "--retrieve-futures", setting)
    calls = [{"prompt": [number], "params": {"max_tokens": 4}} for number in range(5)]

    results = sample_with_sdk(version, daemon, calls)

    assert all("sequences" in result for result in results)
    assert ("/api/v1/retrieve_futures" in polls(daemon, len(results))) == many
