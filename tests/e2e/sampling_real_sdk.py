# SPDX-License-Identifier: Apache-2.0
"""The unmodified SDKs of PyPI sample 2,000 at once; what real vLLM bodies hold comes out as it went in."""

import pytest

from replay_router import Barrier, replays
from support.captures import finished_samples
from support.sdk import NEWEST, VERSIONS, expected_sequences, sample_with_sdk, sequences
from support.waiting import eventually

AT_ONCE = 2000
MOST_CONNECTIONS = 1000  # that SDK 0.38 opens in all
FIRST_STAMP = 1_000_000  # beyond the captures' vocabulary: a stamp is never mistaken for a sampled token


def exchanges(daemon):
    return daemon.access_log.read_text().splitlines()


@pytest.mark.parametrize("version", VERSIONS)
def test_2000_samples_at_once_come_out_as_they_went_in(version, daemon, router):
    bodies = finished_samples()
    barrier = Barrier(AT_ONCE)
    calls, expected = [], []
    for number in range(AT_ONCE):
        body, stamp, prompt = bodies[number % len(bodies)], FIRST_STAMP + number, [7, number]
        router.on(prompt, barrier.before(replays(body, stamp)))
        calls.append({"prompt": prompt, "params": {"max_tokens": 16, "seed": number}})
        expected.append(body.result(stamp))

    results = sample_with_sdk(version, daemon, calls)

    for result, right in zip(results, expected):
        assert sequences(result) == expected_sequences(right)
    assert len(router.requests) == AT_ONCE, "each sample is generated once"
    if version == NEWEST:
        eventually(lambda: len(exchanges(daemon)) > 2 * AT_ONCE, "the access log is written")
        peers = {line.split()[1] for line in exchanges(daemon)}
        assert len(peers) <= MOST_CONNECTIONS, "one poll for all, and few fetch at a time"
    assert sorted(request.json["seed"] for request in router.requests) == list(range(AT_ONCE))
