# SPDX-License-Identifier: Apache-2.0
"""Runs scripts of sdk/ in the environment of a Tinker SDK."""

import json
import os
import subprocess
from pathlib import Path

from support.sample_response import float32

HERE = Path(__file__).resolve().parents[1]
VENVS = HERE.parents[1] / "build" / "venvs"
VERSIONS = ("0.16.1", "0.25.0", "0.38.0")
NEWEST = VERSIONS[-1]
KEY = "tml-a-key-that-must-never-be-logged"


def start_sdk(version, script, daemon, **streams):
    """A process that runs the script against the daemon."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("TINKER_")},
        "TINKER_BASE_URL": daemon.url,
        "TINKER_API_KEY": KEY,
    }
    command = [VENVS / version / "bin" / "python", "-B", HERE / "sdk" / script]
    return subprocess.Popen([str(part) for part in command], env=environment, text=True, **streams)


def sample_with_sdk(version, daemon, calls, patience=150):
    """Makes the calls at once (see sdk/sample.py); returns a result for each."""
    process = start_sdk(version, "sample.py", daemon, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, errors = process.communicate(json.dumps(calls), timeout=patience)
    except subprocess.TimeoutExpired:
        process.kill()
        _, errors = process.communicate()
        raise AssertionError(f"SDK {version} did not finish within {patience} s:\n{errors[-5000:]}") from None
    assert process.returncode == 0, f"SDK {version} failed:\n{errors[-5000:]}"
    said = json.loads(out)
    assert said["version"] == version
    assert len(said["results"]) == len(calls)
    return said["results"]


def sequences(result):
    """What an SDK made of the sequences, with logprobs as float32: 0.16.1 reads them from decimal text."""
    return [(stop_reason, tokens, [float32(x) for x in logprobs]) for stop_reason, tokens, logprobs in result["sequences"]]


def expected_sequences(response):
    return [(one.stop_reason, one.tokens, one.logprobs) for one in response.sequences]
