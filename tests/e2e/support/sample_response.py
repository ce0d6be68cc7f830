# SPDX-License-Identifier: Apache-2.0
"""Reads tinker_public.SampleResponse (wire.md §6) without the SDK's own code."""

import math
import struct
from dataclasses import dataclass, field


def float32(value):
    """The nearest float32, widened again."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


@dataclass
class Sequence:
    stop_reason: str
    tokens: list
    logprobs: list | None


@dataclass
class SampleResponse:
    sequences: list = field(default_factory=list)
    prompt_logprobs: list | None = None  # None where the wire has NaN
    topk_prompt_logprobs: list | None = None  # a row a position: None, or [[token, logprob], …]


def parse_sample_response(data):
    response = SampleResponse()
    for number, value in fields(data):
        if number == 1:
            response.sequences.append(parse_sequence(value))
        elif number == 2:
            response.prompt_logprobs = [None if math.isnan(x) else x for x in floats(value)]
        elif number == 3:
            response.topk_prompt_logprobs = parse_topk(value)
        else:
            raise ValueError(f"unexpected field {number}")
    return response


def parse_sequence(data):
    known = dict(fields(data))
    stop_reason = {0: "stop", 1: "length"}[known.pop(1, 0)]
    tokens = ints(known.pop(2, b""))
    logprobs = known.pop(3, None)
    assert not known, f"unexpected fields {list(known)}"
    return Sequence(stop_reason, tokens, None if logprobs is None else floats(logprobs))


def parse_topk(data):
    known = dict(fields(data))
    tokens, logprobs, k, length = ints(known[1]), floats(known[2]), known[3], known[4]
    assert len(tokens) == len(logprobs) == k * length
    rows = []
    for at in range(0, k * length, k):
        row = [[t, p] for t, p in zip(tokens[at : at + k], logprobs[at : at + k]) if p != -99999.0]
        rows.append(row or None)
    return rows


def fields(data):
    """(number, value) of each field: int for varints, bytes for the rest."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
            if len(value) != size:
                raise ValueError("a field goes beyond the end")
        else:
            raise ValueError(f"wire type {key & 7} at byte {at}")
        yield key >> 3, value


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def ints(data):
    return list(struct.unpack(f"<{len(data) // 4}i", data))


def floats(data):
    return list(struct.unpack(f"<{len(data) // 4}f", data))
