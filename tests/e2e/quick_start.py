# SPDX-License-Identifier: Apache-2.0
"""What the README's first command does after the build."""

import re
import signal
import subprocess

from support.daemon import BINARIES, STOP_SEC
from support.processes import children_of
from support.sdk import HERE
from support.waiting import eventually

RUN = HERE.parent / "tools" / "run"


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
