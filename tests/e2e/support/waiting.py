# SPDX-License-Identifier: Apache-2.0
"""Waiting for a condition, bounded by a deadline."""

import time

PATIENCE_SEC = 20.0  # generous: it is only used up when something is wrong


def eventually(condition, what, patience=PATIENCE_SEC):
    """The first true value of condition(); fails with `what` when there is none in time."""
    deadline = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"not within {patience} s: {what}"
        time.sleep(0.01)
