# SPDX-License-Identifier: Apache-2.0
"""Runs in an SDK's environment: a sampling client and clones of it, as other processes unpickle them, sample side by side. Writes
the first token of each result as a JSON list a client on stdout."""

import asyncio
import json
import os
import pickle
import sys

import tinker
from tinker import types

CLONES, SAMPLES = 3, 20


async def sample(sampler, client):
    prompts = [types.ModelInput.from_ints([client, number]) for number in range(SAMPLES)]
    params = types.SamplingParams(max_tokens=8)
    calls = [sampler.sample_async(prompt=prompt, num_samples=1, sampling_params=params) for prompt in prompts]
    return [result.sequences[0].tokens[0] for result in await asyncio.gather(*calls)]


async def main():
    original = await tinker.ServiceClient().create_sampling_client_async(base_model="tiny")
    clients = [original] + [pickle.loads(pickle.dumps(original)) for _ in range(CLONES)]
    json.dump(await asyncio.gather(*[sample(each, number) for number, each in enumerate(clients)]), sys.stdout)


asyncio.run(main())
sys.stdout.flush()
os._exit(0)  # as in sample.py
