# SPDX-License-Identifier: Apache-2.0
"""Several event loops that serve one port: what one of them has, the clients of all get."""

import signal

import pytest

from replay_router import Gate, holds, replays
from support.captures import capture
from support.client import PROTOBUF, Client
from support.waiting import eventually

ONE = capture("direct/ok-n1-max1")
WORKERS = 4
CLIENTS = 32  # the kernel deals connections out; with so many each worker has some


@pytest.fixture
def daemon(start_daemon, router):
    return start_daemon("--upstream", router.url, "--workers", str(WORKERS))


@pytest.fixture
def clients(daemon):
    connected = [Client(daemon) for _ in range(CLIENTS)]
    yield connected
    for client in connected:
        client.hang_up()


def poll(client, request_id):
    client.send("POST", "/api/v1/retrieve_future", {"request_id": request_id}, {"Accept": PROTOBUF})


def all_wait(daemon):
    eventually(lambda: daemon.ask("status")["clients"]["polls_waiting"] == str(CLIENTS), "all polls wait")


def test_a_result_wakes_the_polls_of_all(daemon, router, clients):
    gate = Gate()
    router.on([1], holds(gate, replays(ONE)))
    request_id = clients[0].submit([1])
    for client in clients:
        poll(client, request_id)
    all_wait(daemon)

    gate.open()

    answers = [client.receive() for client in clients]
    assert {answer.status for answer in answers} == {200}
    assert len({answer.body for answer in answers}) == 1
    assert answers[0].sample == ONE.result()


def test_each_sample_ends_where_it_is_polled(daemon, router, clients):
    for number in range(CLIENTS):
        router.on([number], replays(ONE, 1000 + number))
    ids = [client.submit([number]) for number, client in enumerate(clients)]

    # Each polls for the sample that another has submitted.
    stamps = [client.poll(request_id).sample.sequences[0].tokens[0] for client, request_id in zip(clients, reversed(ids), strict=True)]

    assert stamps == [1000 + number for number in reversed(range(CLIENTS))]


def test_one_connection_uses_the_upstream_connections_of_all(start_daemon, router):
    daemon = start_daemon(
        "--upstream", router.url, "--workers", str(WORKERS), "--sample-max-concurrent-requests", str(2 * WORKERS)
    )
    gate = Gate()
    with Client(daemon) as client:
        for number in range(3 * WORKERS):
            router.on([number], holds(gate, replays(ONE)))
        ids = [client.submit([number]) for number in range(3 * WORKERS)]

        router.wait_for(2 * WORKERS)

        assert daemon.ask("futures", "count")["total"] == str(3 * WORKERS)
        gate.open()
        assert {client.outcome(request_id).status for request_id in ids} == {200}
    assert len(router.requests) == 3 * WORKERS


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_all(how, daemon, router, clients):
    router.on([1], holds(Gate(), replays(ONE)))
    request_id = clients[0].submit([1])
    for client in clients:
        poll(client, request_id)
    all_wait(daemon)

    daemon.process.send_signal(how)

    assert {client.receive().status for client in clients} == {408}
    assert daemon.process.wait(10) == 0
