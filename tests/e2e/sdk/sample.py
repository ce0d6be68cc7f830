# SPDX-License-Identifier: Apache-2.0
"""Runs in an SDK's environment. Reads a JSON list of calls on stdin, makes all of them at once with the real SDK, and writes
what each returned as a JSON list on stdout.

A call: {"prompt": [ids], "params": {SamplingParams}, "num_samples": n, "prompt_logprobs": bool, "topk": k}, or
{"prompt": [ids], "compute_logprobs": true}.
"""

import asyncio
import json
import os
import sys

import tinker
from tinker import types
from tinker.lib.retry_handler import RetryConfig


async def call(sampler, wanted):
    prompt = types.ModelInput.from_ints(wanted["prompt"])
    if wanted.get("compute_logprobs"):
        return {"logprobs": list(await sampler.compute_logprobs_async(prompt))}
    try:
        response = await sampler.sample_async(
            prompt=prompt,
            num_samples=wanted.get("num_samples", 1),
            sampling_params=types.SamplingParams(**wanted["params"]),
            include_prompt_logprobs=wanted.get("prompt_logprobs", False),
            topk_prompt_logprobs=wanted.get("topk", 0),
        )
    except tinker.TinkerError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {
        "sequences": [[one.stop_reason, list(one.tokens), one.logprobs and list(one.logprobs)] for one in response.sequences],
        "prompt_logprobs": response.prompt_logprobs and list(response.prompt_logprobs),
        "topk": response.topk_prompt_logprobs and list(response.topk_prompt_logprobs),
    }


async def main():
    calls = json.load(sys.stdin)
    service = tinker.ServiceClient()
    # By default 0.16.1 keeps 1,000 samples in flight; later ones do as client/config says.
    all_at_once = RetryConfig(max_connections=len(calls))
    sampler = await service.create_sampling_client_async(base_model="tiny", retry_config=all_at_once)
    results = await asyncio.gather(*[call(sampler, wanted) for wanted in calls])
    json.dump({"version": tinker.__version__, "results": results}, sys.stdout)


asyncio.run(main())
sys.stdout.flush()
os._exit(0)  # the threads of 0.38's transport sometimes abort an interpreter that shuts down
