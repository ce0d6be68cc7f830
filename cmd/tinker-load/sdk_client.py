# SPDX-License-Identifier: Apache-2.0
"""The client of `tinker-load load --client sdk`: samples with the public Tinker SDK and checks every result.

Built into tinker-load, which runs it with the Python of --sdk-python. Orders come on stdin as JSON; messages go to stdout, a line
of JSON each (totals.h). Prompts and expected results are those of sample_key.cc.
"""

import asyncio
import json
import os
import random
import signal
import struct
import sys
import time
import urllib.request

orders = json.loads(sys.stdin.readline())
MASK = (1 << 64) - 1
KEY_TOKENS, CHECKED, VOCABULARY = 4, 16, 128256


def say(**message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


try:
    import tinker
    from tinker import types
    from tinker.lib.retry_handler import RetryConfig
except ImportError as error:
    say(fatal=f"--sdk-python {sys.executable}: {error}; name a Python with the package `tinker` installed")
    sys.exit(1)


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def hash_at(key, choice, i):
    return mix((mix((key + choice * 0x1000003) & MASK) + i) & MASK) if i < CHECKED else mix(i)


def logprob_of(hash_value):
    value = (mix(hash_value) % 100) / 10 if orders["body"] == "minimal" else (mix(hash_value) >> 40) / (1 << 21)
    return 0.0 - struct.unpack("f", struct.pack("f", value))[0]


def expected(key, choice, first, last):
    hashes = [hash_at(key, choice, i) for i in range(first, last)]
    return [value % VOCABULARY for value in hashes], [logprob_of(value) for value in hashes]


TOKENS = orders["output_tokens"]
MORE_TOKENS, MORE_LOGPROBS = expected(0, 0, CHECKED, max(TOKENS, CHECKED))
MORE_PROMPT = [mix(i) % VOCABULARY for i in range(KEY_TOKENS, max(orders["prompt_tokens"], KEY_TOKENS))]
SALT = random.getrandbits(59)


def fault(key, sequences):
    if len(sequences) != orders["num_samples"]:
        return f"{len(sequences)} sequences, expected {orders['num_samples']}"
    for choice, one in enumerate(sequences):
        tokens, logprobs = expected(key, choice, 0, min(TOKENS, CHECKED))
        if list(one.tokens) != tokens + MORE_TOKENS:
            return f"sequence {choice}: tokens of another request"
        if list(one.logprobs or []) != logprobs + MORE_LOGPROBS:
            return f"sequence {choice}: logprobs of another request"
        if one.stop_reason != ("stop" if (key + choice) % 2 == 0 else "length"):
            return f"sequence {choice}: the stop reason of another request"
    return None


class Totals:
    def __init__(self):
        self.counts = {"completed": 0, "failed": 0, "wrong": 0}
        self.times = []
        self.troubles = []
        self.began_sec = self.ended_sec = time.monotonic()
        self.outstanding = 0

    def end(self, outcome, trouble=None):
        self.counts[outcome] += 1
        self.ended_sec = time.monotonic()
        if trouble and len(self.troubles) < 1000:
            self.troubles += [trouble, 1]

    def message(self):
        return {
            **self.counts,
            "began_sec": self.began_sec,
            "ended_sec": self.ended_sec,
            "sample_times": self.times,
            "troubles": self.troubles,
        }


async def sample(sampler, number, totals):
    key = (SALT + number) & ((1 << 60) - 1)
    prompt = [key >> (15 * i) & 0x7FFF for i in range(KEY_TOKENS)] + MORE_PROMPT
    began = time.monotonic()
    totals.outstanding += 1
    try:
        response = await sampler.sample_async(
            prompt=types.ModelInput.from_ints(prompt),
            num_samples=orders["num_samples"],
            sampling_params=types.SamplingParams(max_tokens=TOKENS),
        )
    except Exception as error:  # whatever the SDK raises ends this sample only
        return totals.end("failed", f"{type(error).__name__}: {error}")
    finally:
        totals.outstanding -= 1
    trouble = fault(key, response.sequences)
    if trouble:
        return totals.end("wrong", trouble)
    totals.times += [int((time.monotonic() - began) * 1e6), 1]
    totals.end("completed")


async def work(sampler, numbers, totals):
    for number in numbers:
        await sample(sampler, number, totals)


async def progress(totals):
    while True:
        await asyncio.sleep(0.25)
        say(progress=sum(totals.counts.values()), outstanding=totals.outstanding)


async def main():
    at_once = orders["max_outstanding"]
    try:
        urllib.request.urlopen(os.environ["TINKER_BASE_URL"] + "/api/v1/healthz", timeout=30).close()  # the SDK tries for minutes
        service = tinker.ServiceClient()
        sampler = await service.create_sampling_client_async(
            base_model=orders["base_model"], retry_config=RetryConfig(max_connections=at_once)
        )
    except Exception as error:
        say(fatal=f"the SDK cannot sample at {os.environ['TINKER_BASE_URL']}: {type(error).__name__}: {error}")
        return
    totals = Totals()
    showing = asyncio.ensure_future(progress(totals))
    numbers = iter(range(orders["num_requests"]))
    workers = asyncio.gather(*[work(sampler, numbers, totals) for _ in range(at_once)])
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, workers.cancel)
    try:
        await workers
    except asyncio.CancelledError:
        pass  # what there is
    showing.cancel()
    say(totals=totals.message())


asyncio.run(main())
os._exit(0)  # the threads of 0.38's transport sometimes abort an interpreter that shuts down
