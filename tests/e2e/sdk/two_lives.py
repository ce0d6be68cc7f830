# SPDX-License-Identifier: Apache-2.0
"""Runs in an SDK's environment: samples [1, 2], says so, and after a line on stdin samples [3] with the same client."""

import os
import sys

import tinker
from tinker import types


def sample(prompt):
    params = types.SamplingParams(max_tokens=8)
    return sampler.sample(prompt=types.ModelInput.from_ints(prompt), num_samples=1, sampling_params=params).result(timeout=60)


sampler = tinker.ServiceClient().create_sampling_client(base_model="tiny")
sample([1, 2])
print("sampled", flush=True)
sys.stdin.readline()
sample([3])
print("sampled", flush=True)
os._exit(0)  # as in sample.py
