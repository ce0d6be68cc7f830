# SPDX-License-Identifier: Apache-2.0
"""Recorded requests and answers of a real vLLM (tests/vectors/vllm), and what a client must get of them."""

import functools
import json
import re
from pathlib import Path

from support.sample_response import SampleResponse, Sequence, float32

FOLDER = Path(__file__).resolve().parents[2] / "vectors" / "vllm"
FIRST_TOKEN = re.compile(rb'(?<="token_ids":\[)\d+')  # no text can hold this: a quote inside a string is escaped


class Capture:
    """One recorded exchange. `name` is its path below tests/vectors/vllm, without the extension."""

    def __init__(self, name):
        self.name = name
        self.answer = (FOLDER / f"{name}.http").read_bytes()
        self.head, self.body = self.answer.split(b"\r\n\r\n", 1)

    @functools.cached_property
    def request(self):
        return json.loads((FOLDER / f"{self.name}.json").read_bytes())

    def stamped(self, number):
        """The answer with the first token of each choice replaced by `number`, so that no two answers are alike."""
        body = FIRST_TOKEN.sub(b"%d" % number, self.body)
        return re.sub(rb"(?i)(?<=content-length: )\d+", b"%d" % len(body), self.head) + b"\r\n\r\n" + body

    def result(self, stamp=None, topk=0):
        """The SampleResponse that a client must get, with the prompt's logprobs when they were recorded."""
        choices = json.loads(self.body)["choices"]
        response = SampleResponse([self._sequence(choice, stamp) for choice in choices])
        rows = choices[0]["prompt_logprobs"]
        if rows is not None:
            response.prompt_logprobs = [row and float32(row[str(token)]["logprob"]) for token, row in zip(self.prompt, rows)]
            if topk > 0:
                response.topk_prompt_logprobs = [row and self._most_likely(row, topk) for row in rows]
        return response

    @property
    def prompt(self):
        return self.request["prompt"]

    @staticmethod
    def _sequence(choice, stamp):
        tokens = list(choice["token_ids"])
        if stamp is not None and tokens:
            tokens[0] = stamp
        logprobs = choice["logprobs"]
        logprobs = [float32(x) for x in logprobs["token_logprobs"]] if logprobs else [0.0] * len(tokens)
        return Sequence("stop" if choice["finish_reason"] == "stop" else "length", tokens, logprobs)

    @staticmethod
    def _most_likely(row, topk):
        entries = sorted(row.items(), key=lambda entry: -entry[1]["logprob"])
        return [[int(token), float32(entry["logprob"])] for token, entry in entries[:topk]]


@functools.cache
def capture(name):
    return Capture(name)


@functools.cache
def finished_samples(n=1):
    """Every recorded answer that is a finished sample of `n` sequences, asked for and answered in full."""
    found = []
    for path in sorted(path for folder in ("direct", "lora", "peaked", "router") for path in (FOLDER / folder).glob("*.json")):
        one = capture(str(path.relative_to(FOLDER).with_suffix("")))
        if not one.answer.startswith(b"HTTP/1.1 200") or not one.body.startswith(b'{"id":"cmpl'):
            continue
        choices = json.loads(one.body)["choices"]
        whole = all(choice["token_ids"] and choice["finish_reason"] != "abort" for choice in choices)
        if whole and len(choices) == n == one.request["n"] and "echo" not in one.request:
            found.append(one)
    assert found, f"no recorded answer with n={n} in {FOLDER}"
    return found
