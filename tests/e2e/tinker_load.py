# SPDX-License-Identifier: Apache-2.0
"""The load harness: each command, the flags of SkyRL's own, and what it says when something is wrong."""

import json
import os
import pty
import re
import signal
import subprocess

import pytest

from replay_router import replays
from support.captures import capture
from support.daemon import BINARIES, STOP_SEC
from support.processes import children_of
from support.sdk import NEWEST, VENVS
from support.waiting import eventually

TINKER_LOAD = BINARIES / "tinker-load"
NOBODY = "http://127.0.0.1:1"


def start(*words, folder=None, **streams):
    environment = {**os.environ, **({"TMPDIR": str(folder)} if folder else {})}
    return subprocess.Popen([str(part) for part in (TINKER_LOAD, *words)], text=True, env=environment, **streams)


def run(*words, folder=None):
    """Its exit code, standard output and standard error."""
    process = start(*words, folder=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    return process.returncode, out, errors


def report(*words, folder=None):
    """Its exit code and its report."""
    code, out, errors = run(*words, "--json", folder=folder)
    assert out, errors
    return code, json.loads(out)


def is_good(code, figures, samples):
    return (code, figures["completed"], figures["failed"], figures["wrong"], figures["troubles"]) == (0, samples, 0, 0, [])


def polls_waiting(folder):
    """How many polls the tinkerd of `all` holds; None before it answers."""
    for socket in folder.glob("*/control.sock"):
        said = subprocess.run([BINARIES / "tinkerctl", "--socket", socket, "status", "--json"], capture_output=True, text=True, timeout=30)
        return int(json.loads(said.stdout)["clients"]["polls_waiting"]) if said.returncode == 0 else None
    return None


@pytest.fixture
def loaded_router():
    """The URL of tinker-load's own router."""
    process = start("router", "--port", 0, "--output-tokens", 32, stdout=subprocess.PIPE)
    try:
        yield re.search(r"http://\S+", process.stdout.readline())[0]
    finally:
        process.terminate()
        process.communicate(timeout=STOP_SEC)


@pytest.mark.parametrize("poll", ["single", "multi"])
def test_load_finds_each_result_where_it_belongs(start_daemon, loaded_router, poll):
    daemon = start_daemon("--upstream", loaded_router)
    watch = ["--server-pid", daemon.process.pid, "--control-socket", daemon.socket]
    shape = ["--output-tokens", 32, "--num-samples", 2]

    code, figures = report(
        "load", "--url", daemon.url, "--num-requests", 3000, "--max-outstanding", 1000, "--client-processes", 2, "--poll", poll, *shape, *watch
    )

    assert is_good(code, figures, 3000), figures
    assert figures["no_sequence_ids"] == 0
    for name in ("samples_per_sec", "submit_p99_ms", "sample_p99_ms", "healthz_p99_ms", "server_peak_rss_mb", "server_peak_connections"):
        assert figures[name] > 0, name
    assert daemon.futures() == 0 or poll == "single", "what was fetched is acknowledged"


@pytest.mark.parametrize("client", [(), ("--client", "sdk", "--sdk-python", VENVS / NEWEST / "bin" / "python")])
def test_load_notices_results_of_other_requests(daemon, router, client):
    router.default = replays(capture("direct/ok-n1-max64"))

    code, figures = report("load", "--url", daemon.url, "--num-requests", 300, "--output-tokens", 64, *client)

    assert (code, figures["completed"], figures["wrong"]) == (1, 0, 300), figures
    assert "of another request" in figures["troubles"][0]["text"]


def test_all_needs_nothing_and_leaves_nothing_behind(tmp_path):
    code, figures = report("all", "--num-requests", 2000, folder=tmp_path)

    assert is_good(code, figures, 2000), figures
    assert list(tmp_path.iterdir()) == []


def test_all_shows_a_table(tmp_path):
    code, out, _ = run("all", "--num-requests", 200, "--poll", "multi", "--body", "full", folder=tmp_path)

    assert code == 0
    assert re.search(r"^completed +200$", out, re.M)
    assert re.search(r"^server_cpu_us_per_sample +[\d.]+ us$", out, re.M)


@pytest.mark.parametrize("version", ["0.25.0", NEWEST])
def test_all_samples_with_the_public_sdk(tmp_path, version):
    python = VENVS / version / "bin" / "python"

    code, figures = report(
        "all", "--client", "sdk", "--sdk-python", python, "--num-requests", 200, "--num-samples", 2, "--body", "full", "--output-tokens", 20, folder=tmp_path
    )

    assert is_good(code, figures, 200), figures


def test_all_tells_what_there_is_when_it_is_stopped(tmp_path):
    process = start(
        "all", "--num-requests", 50, "--vllm-mode", "barrier", "--barrier", 51, "--hold-seconds", 1000, "--json", folder=tmp_path, stdout=subprocess.PIPE
    )

    try:
        eventually(lambda: polls_waiting(tmp_path) == 50, "all samples are waited for")
        children = children_of(process.pid)

        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=STOP_SEC)
    finally:
        process.kill()

    assert (process.returncode, json.loads(out)["completed"]) == (1, 0)
    assert len(children) >= 3 and not any(child.exists() for child in children)
    assert list(tmp_path.iterdir()) == []


def test_all_notices_that_the_server_ended(tmp_path):
    process = start("all", "--num-requests", 50, "--vllm-mode", "barrier", "--barrier", 51, "--hold-seconds", 1000, folder=tmp_path, stderr=subprocess.PIPE)
    try:
        eventually(lambda: polls_waiting(tmp_path) == 50, "all samples are waited for")
        tinkerd = next(child for child in children_of(process.pid) if (child / "comm").read_text() == "tinkerd\n")

        os.kill(int(tinkerd.name), signal.SIGKILL)
        _, errors = process.communicate(timeout=STOP_SEC)
    finally:
        process.kill()

    assert process.returncode == 1
    assert f"the server, process {tinkerd.name}, ended after 0 of 50 samples; its last words: " in errors


def test_progress_is_shown_on_a_terminal(tmp_path):
    ours, its = pty.openpty()
    process = start(
        "all", "--num-requests", 20, "--vllm-mode", "barrier", "--barrier", 21, "--hold-seconds", 1.5, folder=tmp_path, stdout=subprocess.DEVNULL, stderr=its
    )
    os.close(its)
    shown = b""
    try:
        while b"0 of 20 done, 20 outstanding" not in shown:
            shown += os.read(ours, 4096)
        assert process.wait(60) == 0
    finally:
        process.kill()
        os.close(ours)


def test_compare_measures_servers_in_turn(start_daemon, loaded_router):
    ours, theirs = (start_daemon("--upstream", loaded_router) for _ in range(2))
    servers = ["--server", f"ours={ours.url}", "--server", f"theirs={theirs.url}", "--server-pid", f"ours={ours.process.pid}"]
    load = ["--num-requests", 200, "--output-tokens", 32, "--rounds", 2]

    code, figures = report("compare", *servers, *load)
    _, table, _ = run("compare", *servers, *load)

    assert code == 0
    for name, daemon in {"ours": ours, "theirs": theirs}.items():
        assert is_good(code, figures["servers"][name], 400)
        assert daemon.futures() == 800
    assert figures["ratios"]["theirs"]["samples_per_sec"] > 0
    assert "server_peak_rss_mb" in figures["servers"]["ours"] and "server_peak_rss_mb" not in figures["servers"]["theirs"]
    assert re.search(r"^ +ours +theirs +ratio$", table, re.M)
    assert re.search(r"^completed +400 +400 +1\.00$", table, re.M)


def test_flags_of_the_other_harness_mean_the_same_here(start_daemon, tmp_path):
    latency = ["--vllm-mode", "latency", "--max-num-seqs", 50, "--gen-seconds", 0.01, "--max-tokens", 8]
    assert is_good(*report("--num-requests", 300, "--forwarding-max-connections", 64, *latency, folder=tmp_path), 300)
    barrier = ["--vllm-mode", "barrier", "--barrier-timeout", 100]
    assert is_good(*report("--role", "all", "--num-requests", 60, "--forwarding-max-connections", 64, *barrier, folder=tmp_path), 60)

    router = start("--role", "vllm", "--vllm-port", 0, "--max-tokens", 8, stdout=subprocess.PIPE)
    try:
        daemon = start_daemon("--upstream", re.search(r"http://\S+", router.stdout.readline())[0])
        load = ["--role", "load", "--client", "raw", "--url", daemon.url, "--num-requests", 100, "--max-tokens", 8]
        assert is_good(*report(*load), 100)
    finally:
        router.terminate()
        said, _ = router.communicate(timeout=STOP_SEC)
    assert re.search(r"^answered +100$", said, re.M)


@pytest.mark.parametrize(
    ("code", "expected", "words"),
    [
        (2, "expected http://HOST:PORT with a numeric host, e.g. http://127.0.0.1:8000", ["load", "--url", "https://a.example"]),
        (2, "--server-pid 2000000000: no such process; leave it out when the server is elsewhere", ["load", "--server-pid", 2000000000]),
        (2, "--control-socket", ["load", "--url", NOBODY, "--control-socket", "/" + "x" * 200]),
        (2, "--role 'server': expected all, load or vllm", ["--role", "server"]),
        (2, "--num-requests", ["all", "--num-requests", 0]),
        (2, "--forwarding-max-connections 99999999: the router is one process", ["all", "--forwarding-max-connections", 99999999]),
        (2, "--server", ["compare", "--server", f"one={NOBODY}"]),
        (2, "--server 'two': expected NAME=VALUE", ["compare", "--server", f"one={NOBODY}", "two"]),
        (2, "run with --help", []),
        (1, "connection to 127.0.0.1:1 refused (is the server running?)", ["load", "--url", NOBODY]),
        (1, "server one: ", ["compare", "--server", f"one={NOBODY}", f"two={NOBODY}"]),
        (1, "/no/tinkerd: ended at once; its last words: cannot run /no/tinkerd", ["all", "--tinkerd", "/no/tinkerd"]),
        (1, "cannot run /no/python: No such file or directory (see --sdk-python)", ["load", "--client", "sdk", "--sdk-python", "/no/python"]),
        (1, "name a Python with the package `tinker` installed", ["load", "--client", "sdk", "--sdk-python", VENVS / "pytest" / "bin" / "python"]),
        (1, "the SDK cannot sample at", ["load", "--client", "sdk", "--sdk-python", VENVS / "0.25.0" / "bin" / "python", "--url", NOBODY]),
        (1, "cannot listen", ["router", "--host", "203.0.113.1"]),
    ],
)
def test_mistakes_are_told_in_words(code, expected, words):
    said = run(*words)

    assert said[0] == code and expected.lower() in said[2].lower(), said
