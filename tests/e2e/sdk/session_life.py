# SPDX-License-Identifier: Apache-2.0
"""Runs in an SDK's environment: a session that samples once, lives until stdin ends, and is closed in good order."""

import sys

import tinker
from tinker import types

with tinker.ServiceClient() as service:
    sampler = service.create_sampling_client(base_model="tiny")
    prompt, params = types.ModelInput.from_ints([1, 2]), types.SamplingParams(max_tokens=8)
    sampler.sample(prompt=prompt, num_samples=1, sampling_params=params).result()
    sys.stdin.read()
