# SPDX-License-Identifier: Apache-2.0
"""The daemon survives each of 10,000 mutated requests to all routes, and never blames itself for them."""

import random
import re

import pytest

from support.client import raw_exchange
from support.mutations import mutated_body, mutated_bytes, mutated_head, valid_requests
from support.waiting import eventually

SEED = 20261201
STATUS = re.compile(rb"HTTP/1\.1 (\d{3})")
PROTOCOL_ONLY = {501, 505}  # a transfer coding or a version of HTTP that is not spoken


@pytest.mark.parametrize(("mutate", "count"), [(mutated_body, 4000), (mutated_head, 3000), (mutated_bytes, 3000)])
def test_mutated_requests_get_at_most_a_4xx(mutate, count, client, daemon):
    session = client.post("create_session", {"sdk_version": "1"}).json["session_id"]
    valid = valid_requests(client.sampler, session)
    source = random.Random(SEED)
    seen = {}
    for number in range(count):
        data = mutate(source.choice(valid), source)

        answer = raw_exchange(daemon.port, data)

        for status in map(int, STATUS.findall(answer)):
            seen[status] = seen.get(status, 0) + 1
            assert status < 500 or status in PROTOCOL_ONLY, f"seed {SEED}, request {number}: {data[:2000]!r}\n{answer[:1000]!r}"
        assert daemon.running, f"seed {SEED}, request {number}: {data[:2000]!r}"

    assert seen.get(200, 0) > count / 50, f"some are harmless: {seen}"
    assert (
        sum(seen.get(status, 0) for status in (400, 404, 405, 410, 413, 415, 422, 431)) > count / 5
    ), f"most are refused in words: {seen}"
    eventually(
        lambda: daemon.ask("status")["clients"] == {"connections": "1", "polls_waiting": "0", "accept_pauses": "0", "idle_shed": "0"},
        "nothing is left open",
    )
    assert client.sample([3])


def test_the_requests_that_are_mutated_are_valid(client, daemon):
    session = client.post("create_session", {"sdk_version": "1"}).json["session_id"]
    for method, path, body in valid_requests(client.sampler, session):
        answer = client.request(method, path, body)

        assert answer.status in (200, 204) or path.endswith("/retrieve_future"), (path, answer)
