# SPDX-License-Identifier: Apache-2.0
"""A running tinkerd, and tinkerctl pointed at it."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

from support.waiting import eventually

BINARIES = Path(os.environ.get("TINKER_BIN_DIR", Path(__file__).resolve().parents[3] / "build" / "bin"))
MODEL = "tiny"  # what the captures' vLLM served
STOP_SEC = 10


class Daemon:
    """Started by the constructor, which returns when it listens; what it writes stays below `folder`."""

    def __init__(self, folder, *flags):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.state_dir = folder / "state"
        self.socket = folder / "control.sock"
        self.access_log = folder / "access.log"
        self.stderr = folder / "tinkerd.err"
        self.process = None
        self.start(*flags)

    def start(self, *flags):
        given = {flag.split("=")[0] for flag in flags if flag.startswith("--")}
        usual = {
            "--port": "0",
            "--base-model": MODEL,
            "--state-dir": self.state_dir,
            "--control-socket": self.socket,
            "--access-log": self.access_log,
        }
        command = [BINARIES / "tinkerd", *flags]
        for flag, value in usual.items():
            if flag not in given:
                command += [flag, value]
        self.stderr.write_bytes(b"")
        with open(self.stderr, "ab") as stderr:
            self.process = subprocess.Popen([str(part) for part in command], stdout=stderr, stderr=stderr)
        self.port = int(eventually(self._listening, f"tinkerd listens; it wrote:\n{self.log()}")[1])
        self.url = f"http://127.0.0.1:{self.port}"

    def _listening(self):
        assert self.process.poll() is None, f"tinkerd ended with {self.process.returncode}: {self.log()}"
        return re.search(r"listening on http://[^ :]+:(\d+)", self.log())

    def log(self):
        return self.stderr.read_text(errors="replace")

    @property
    def running(self):
        return self.process.poll() is None

    def stop(self, how=signal.SIGTERM):
        """Ends it; returns the exit code."""
        if self.running:
            self.process.send_signal(how)
        try:
            return self.process.wait(STOP_SEC)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"tinkerd did not end within {STOP_SEC} s of {how.name}") from None

    def ctl(self, *words, socket=None):
        """What tinkerctl says: CompletedProcess with text."""
        command = [BINARIES / "tinkerctl", "--socket", socket or self.socket, *words]
        return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=30)

    def ask(self, *words):
        """What `tinkerctl … --json` prints, read."""
        said = self.ctl(*words, "--json")
        assert said.returncode == 0, f"tinkerctl {words}: {said.returncode}: {said.stderr}"
        return json.loads(said.stdout)

    def counter(self, name):
        """A counter of `tinkerctl status`."""
        return next(int(one["value"]) for one in self.ask("status")["counters"] if one["name"] == name)

    def holds(self, request_id):
        """Whether it still knows this future; looking does not touch the future's clocks."""
        return self.ctl("futures", "show", request_id).returncode == 0

    def futures(self):
        """How many futures it holds, in all states."""
        return int(self.ask("futures", "count")["total"])


def assert_nowhere_written(text, daemon):
    """No log and no file of the daemon holds this text."""
    for path in daemon.folder.rglob("*"):
        if path.is_file():
            assert text.encode() not in path.read_bytes(), f"{text!r} is in {path}"
