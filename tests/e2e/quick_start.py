# SPDX-License-Identifier: Apache-2.0
"""What the README's first command does after the build, and what tinker-load says of a server."""

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest

from replay_router import replays
from support.captures import capture
from support.daemon import BINARIES, STOP_SEC
from support.sdk import HERE
from support.waiting import eventually

RUN = HERE.parent / "tools" / "run"


def children_of(pid):
    """The /proc folders of a process's children."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[1]
        except OSError:
            continue  # it has ended meanwhile
        if int(parent) == pid:
            found.append(folder)
    return found


def test_run_once_shows_samples_and_status_and_ends():
    said = subprocess.run([RUN, "--once"], capture_output=True, text=True, timeout=60)

    assert said.returncode == 0, said.stderr
    assert len(re.findall(r"^sample s\d+, prompt \[", said.stdout, re.M)) == 3
    assert len(re.findall(r"logprobs \[-\d", said.stdout)) == 6
    assert "WHERE THE TIME GOES" in said.stdout and re.search(r"samples_completed +3 ", said.stdout)


def test_run_stays_up_until_ctrl_c_and_leaves_nothing_behind(tmp_path):
    output = tmp_path / "output"
    with open(output, "w") as file:
        run = subprocess.Popen([RUN], stdout=file, stderr=file, start_new_session=True)
    try:
        eventually(lambda: "Ctrl-C ends it" in output.read_text(), "the hints are shown")
        text = output.read_text()
        assert re.search(r"export TINKER_BASE_URL=http://127\.0\.0\.1:\d+ TINKER_API_KEY=tml-", text)
        command = re.search(r"^ *build/bin/tinkerctl (--socket \S+ status)$", text, re.M)[1]
        assert subprocess.run([BINARIES / "tinkerctl", *command.split()], capture_output=True, timeout=20).returncode == 0
        children = children_of(run.pid)
        assert len(children) == 2

        run.send_signal(signal.SIGINT)

        assert run.wait(STOP_SEC) == 0
    finally:
        run.kill()
        run.wait()
    assert not any(child.exists() for child in children)


@pytest.fixture
def loaded_router():
    """tinker-load's own router."""
    process = subprocess.Popen(
        [BINARIES / "tinker-load", "router", "--port", "0", "--output-tokens", "32"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield re.search(r"http://\S+", process.stdout.readline())[0]
    finally:
        process.terminate()
        process.communicate(timeout=STOP_SEC)


def load(daemon):
    command = [
        BINARIES / "tinker-load",
        "load",
        "--url",
        daemon.url,
        "--num-requests",
        "3000",
        "--max-outstanding",
        "1000",
        "--output-tokens",
        "32",
        "--json",
    ]
    said = subprocess.run(command, capture_output=True, text=True, timeout=100)
    return said.returncode, json.loads(said.stdout)


def test_tinker_load_finds_each_result_where_it_belongs(start_daemon, loaded_router):
    code, report = load(start_daemon("--upstream", loaded_router))

    assert (code, report["failed"], report["wrong"]) == (0, 0, 0)
    assert report["samples_per_sec"] > 0


def test_tinker_load_notices_results_of_other_requests(daemon, router):
    router.default = replays(capture("direct/ok-n1-max64"))

    code, report = load(daemon)

    assert code != 0 and report["wrong"] == 3000
