# SPDX-License-Identifier: Apache-2.0
"""Runs in an SDK's environment: starts a sample of [1, 2], abandons it at a line on stdin, and stays until stdin ends."""

import asyncio
import os
import sys

import tinker
from tinker import types


async def main():
    service = tinker.ServiceClient()
    sampler = await service.create_sampling_client_async(base_model="tiny")
    prompt, params = types.ModelInput.from_ints([1, 2]), types.SamplingParams(max_tokens=8)
    sample = asyncio.ensure_future(sampler.sample_async(prompt=prompt, num_samples=1, sampling_params=params))
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    sample.cancel()
    await asyncio.wait([sample])
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
os._exit(0)  # as in sample.py
