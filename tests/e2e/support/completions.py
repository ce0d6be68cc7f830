# SPDX-License-Identifier: Apache-2.0
"""Completion bodies that no capture has, in vLLM's shape."""

import json


def choice(tokens=(1, 2), logprobs=(-0.5, -0.25), finish_reason="stop", index=0, **more):
    return {
        "index": index,
        "text": "",
        "logprobs": logprobs and {"text_offset": [], "token_logprobs": list(logprobs), "tokens": [], "top_logprobs": []},
        "finish_reason": finish_reason,
        "stop_reason": None,
        "token_ids": tokens and list(tokens),
        "prompt_logprobs": None,
        **more,
    }


def completion(*choices):
    """The body as bytes."""
    body = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "tiny", "choices": list(choices)}
    return json.dumps(body, separators=(",", ":")).encode()


def long_completion(tokens):
    """One sequence of so many tokens, 8 bytes each in the result."""
    return completion(choice(range(tokens), [-0.5] * tokens, "length"))
