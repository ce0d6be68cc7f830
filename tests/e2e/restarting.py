# SPDX-License-Identifier: Apache-2.0
"""The end of a daemon and the start of the next one."""

import signal
import socket
import subprocess
import time

import pytest

from replay_router import Gate, holds, replays
from support.captures import capture
from support.client import PROTOBUF, Client
from support.daemon import BINARIES
from support.waiting import eventually

ONE = capture("direct/ok-n1-max1")
SOON_SEC = 3.0  # it is to take under a second; a loaded machine may need longer


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_answers_the_waiters_408_and_ends_soon(how, start_daemon, router):
    daemon = start_daemon("--upstream", router.url)
    router.on([1, 2], holds(Gate(), replays(ONE)))
    with Client(daemon) as client:
        request_id = client.submit([1, 2])
        pollers = [Client(daemon) for _ in range(50)]
        for poller in pollers:
            poller.send("POST", "/api/v1/retrieve_future", {"request_id": request_id}, {"Accept": PROTOBUF})
        eventually(lambda: daemon.ask("status")["clients"]["polls_waiting"] == str(len(pollers)), "all polls wait")
        begun = time.monotonic()

        daemon.process.send_signal(how)
        answers = [poller.receive() for poller in pollers]

        assert daemon.process.wait(10) == 0
        assert time.monotonic() - begun < SOON_SEC
    assert {answer.status for answer in answers} == {408}
    assert {answer.json["type"] for answer in answers} == {"try_again"}


def test_idle_connections_do_not_delay_the_end(start_daemon, router):
    daemon = start_daemon("--upstream", router.url)
    idle = [socket.create_connection(("127.0.0.1", daemon.port)) for _ in range(20)]
    with Client(daemon) as client:
        client.sample([3])
        begun = time.monotonic()

        assert daemon.stop() == 0

        assert time.monotonic() - begun < SOON_SEC
    assert all(connection.recv(1) == b"" for connection in idle)


def test_the_next_daemon_takes_the_port_and_the_store(start_daemon, router):
    daemon = start_daemon("--upstream", router.url)
    port = daemon.port
    with Client(daemon) as client:
        request_id, sampler = client.submit([3]), client.sampler
        assert daemon.stop() == 0
    daemon.start("--upstream", router.url, f"--port={port}")

    with Client(daemon) as client:
        lost = client.poll(request_id)
        again = client.post("asample", {**client.sample_body([3], seq_id=1), "sampling_session_id": sampler})

        assert lost.status == 410, "the SDK submits it again"
        assert again.json["request_id"] != request_id
        assert client.outcome(again.json["request_id"]).sample == ONE.result()


def test_ids_never_come_back(start_daemon, router):
    daemon = start_daemon("--upstream", router.url)
    lives = []
    for _ in range(3):
        with Client(daemon) as client:
            lives.append([int(client.submit([number]).removeprefix("s")) for number in range(5)])
        daemon.stop(signal.SIGKILL)
        daemon.start("--upstream", router.url)

    assert all(len(set(ids)) == len(ids) for ids in lives)
    assert max(lives[0]) < min(lives[1]) and max(lives[1]) < min(
        lives[2]
    ), "each life numbers on from where the last one can have been"


def refusal(*flags):
    """What tinkerd says when it does not start."""
    said = subprocess.run([str(part) for part in (BINARIES / "tinkerd", *flags)], capture_output=True, text=True, timeout=20)
    return said.returncode, said.stderr


def second(router, port, state_dir, socket):
    """What a second tinkerd says that wants what another one has."""
    place = ("--port", port, "--state-dir", state_dir, "--control-socket", socket)
    return refusal("--base-model", "tiny", "--upstream", router.url, *place)


def test_a_second_daemon_on_the_same_port_says_so(daemon, router, tmp_path):
    code, said = second(router, daemon.port, tmp_path / "other", tmp_path / "other.sock")

    assert code == 1 and f"127.0.0.1:{daemon.port}" in said
    with Client(daemon) as client:
        assert client.sample([3]), "the first one goes on"


def test_a_second_daemon_on_the_same_control_socket_says_so(daemon, router, tmp_path):
    code, said = second(router, 0, tmp_path / "other", daemon.socket)

    assert code == 1 and str(daemon.socket) in said
    assert daemon.ctl("status").returncode == 0, "the first one keeps its socket"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--upstream", "http://127.0.0.1:1"], "base_model"),
        (["--base-model", "tiny", "--upstream", "ftp://x"], "upstream"),
        (["--base-model", "tiny", "--poll-hold-sec", "90"], "poll_hold_sec"),
        (["--base-model", "tiny", "--port", "70000"], "port"),
        (["--base-model", "tiny", "--no-such-flag", "1"], "no-such-flag"),
        (["--base-model", "tiny", "--state-dir", "/proc/tinkerd"], "/proc/tinkerd"),
        (["--base-model", "tiny", "--database-url", "mysql://x"], "mysql"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_what_cannot_start_says_why(flags, words, tmp_path):
    usual = {"--port": "0", "--state-dir": tmp_path, "--control-socket": tmp_path / "c.sock"}
    code, said = refusal(*flags, *[part for flag in usual if flag not in flags for part in (flag, usual[flag])])

    assert code != 0 and words in said
    assert len(said.strip().splitlines()) <= 3, "a clear text"
