# SPDX-License-Identifier: Apache-2.0
"""cases.md C10 and U11: what cannot be done is refused with a 4xx that names the field, and nothing is stored."""

import copy
import json
from pathlib import Path

import pytest

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
RAW = "raw:"  # a value that is spliced in as it stands, for what json.dumps would not write


def stored(daemon):
    """Everything that a request can leave behind."""
    return daemon.futures(), {table["name"]: table.get("rows") for table in daemon.ask("store", "info")["tables"]}


def with_value(body, path, value):
    """The body's JSON text with one value put in at a dotted path."""
    body = copy.deepcopy(body)
    *way, last = path.split(".")
    place = body
    for step in way:
        place = place[int(step)] if isinstance(place, list) else place[step]
    place[int(last) if isinstance(place, list) else last] = value
    text = json.dumps(body)
    if isinstance(value, str) and value.startswith(RAW):
        text = text.replace(json.dumps(value), value.removeprefix(RAW))
    return text.encode()


FAULTS = [  # dotted path, value; answered 422 with that path as location
    ("num_samples", 0),
    ("num_samples", -1),
    ("num_samples", 10**9),
    ("num_samples", 10**30),
    ("num_samples", "two"),
    ("num_samples", 1.5),
    ("num_samples", []),
    ("seq_id", "x"),
    ("seq_id", 0.5),
    ("seq_id", 2**63),
    ("seq_id", -1),
    ("topk_prompt_logprobs", -1),
    ("topk_prompt_logprobs", "many"),
    ("prompt_logprobs", "perhaps"),
    ("prompt_logprobs_last_n", 0),
    ("sampling_params", None),
    ("sampling_params", 3),
    ("sampling_params", []),
    ("sampling_params.temperature", RAW + "NaN"),
    ("sampling_params.temperature", RAW + "Infinity"),
    ("sampling_params.temperature", RAW + "-Infinity"),
    ("sampling_params.temperature", RAW + "1e999"),
    ("sampling_params.temperature", "NaN"),
    ("sampling_params.temperature", "warm"),
    ("sampling_params.temperature", -0.1),
    ("sampling_params.temperature", [1]),
    ("sampling_params.top_p", 0),
    ("sampling_params.top_p", 1.01),
    ("sampling_params.top_p", RAW + "NaN"),
    ("sampling_params.top_k", "all"),
    ("sampling_params.top_k", -2),
    ("sampling_params.max_tokens", "many"),
    ("sampling_params.max_tokens", 1.25),
    ("sampling_params.max_tokens", 2**40),
    ("sampling_params.seed", "x"),
    ("sampling_params.seed", 1.5),
    ("sampling_params.seed", {}),
    ("sampling_params.stop", 7),
    ("sampling_params.stop", {"a": 1}),
    ("sampling_params.stop.1", 7),
    ("prompt", None),
    ("prompt", [1, 2]),
    ("prompt.chunks", None),
    ("prompt.chunks", "text"),
    ("prompt.chunks.0", 5),
    ("prompt.chunks.0.tokens", None),
    ("prompt.chunks.0.tokens", "1,2"),
    ("prompt.chunks.0.tokens.1", -1),
    ("prompt.chunks.0.tokens.1", 2**31),
    ("prompt.chunks.0.tokens.1", None),
    ("prompt.chunks.0.tokens.1", 0.5),
    ("prompt.chunks.0.tokens.1", RAW + "NaN"),
    ("prompt.chunks.0", {"type": "video"}),
    ("type", "simple"),
    ("sampling_session_id", 5),
    ("sampling_session_id", ""),
]


def location(path):
    return ["body"] + [int(step) if step.isdigit() else step for step in path.split(".")]


@pytest.mark.parametrize(("path", "value"), FAULTS, ids=lambda x: str(x)[:24])
def test_C10_a_bad_value_is_named_and_nothing_is_stored(path, value, client, daemon, router):
    body = client.sample_body(
        [1, 2], params={"stop": ["a", "b"], "seed": 1, "temperature": 1, "top_p": 1, "top_k": 1}, prompt_logprobs=True
    )
    before = stored(daemon)

    answer = client.post("asample", with_value(body, path, value))

    assert answer.status == 422, answer.body
    if RAW in str(value) and answer.detail[0]["type"] == "json_invalid":
        pass  # bare words that are no JSON: the body has no fields yet
    else:
        assert location(path) in [fault["loc"][: len(location(path))] for fault in answer.detail], answer.body
    assert stored(daemon) == before
    assert router.requests == []
    assert client.sample([3]), "the connection and the daemon go on"


REFUSALS = [  # dotted path, value, word in the text; answered 400
    ("sampling_params.max_tokens", 0, "max_tokens"),
    ("sampling_params.max_tokens", -5, "max_tokens"),
    ("sampling_params.max_tokens", None, "max_tokens"),
    ("sampling_session_id", "a:b", "sampling_session_id"),
    ("topk_sample_logprobs", 3, "topk_sample_logprobs"),
    ("prompt_alt_tokens_k", 2, "prompt_alt_tokens_k"),
    ("record_stability_info", True, "record_stability_info"),
    ("target_prompt_logprobs", {"data": [], "dtype": "int64", "shape": [0, 0]}, "target_prompt_logprobs"),
]


@pytest.mark.parametrize(("path", "value", "word"), REFUSALS, ids=lambda x: str(x)[:24])
def test_C10_what_cannot_be_done_is_refused_by_name(path, value, word, client, daemon, router):
    body = client.sample_body([1, 2])
    before = stored(daemon)

    answer = client.post("asample", with_value(body, path, value))

    assert answer.status == 400, answer.body
    assert word in answer.detail
    assert stored(daemon) == before
    assert router.requests == []


LAX = [  # what the peer's rules take although it looks wrong (server-contract.md §1.1), and what then goes upstream
    ("num_samples", "2", "n", 2),
    ("num_samples", 2.0, "n", 2),
    ("num_samples", True, "n", 1),
    ("sampling_params.max_tokens", "16", "max_tokens", 16),
    ("sampling_params.temperature", "0.5", "temperature", 0.5),
    ("sampling_params.top_p", "1", "top_p", 1.0),
    ("prompt_logprobs", "yes", "prompt_logprobs", 0),
]


@pytest.mark.parametrize(("path", "value", "key", "asked"), LAX, ids=lambda x: str(x)[:24])
def test_C10_numbers_as_text_are_read_as_the_peer_reads_them(path, value, key, asked, client, router):
    answer = client.post("asample", with_value(client.sample_body([1, 2]), path, value))

    assert answer.status == 200, answer.body
    assert router.wait_for(1)[0].json[key] == asked


@pytest.mark.parametrize("name", ["asample_image_png", "asample_image_pointer"])
def test_U11_an_image_chunk_is_refused_in_words(name, client, daemon, router):
    body = json.loads((VECTORS / f"{name}.json").read_bytes())
    body["sampling_session_id"] = client.sampler
    before = stored(daemon)

    answer = client.post("asample", body)

    assert answer.status == 400
    assert "chunks[1]" in answer.detail and "image" in answer.detail
    assert stored(daemon) == before
    assert router.requests == []


def test_U11_an_audio_chunk_is_refused_in_words(client, router):
    body = client.sample_body([1, 2])
    body["prompt"]["chunks"].append({"type": "dmel", "dmel": "AAAA"})

    answer = client.post("asample", body)

    assert answer.status == 400 and "dmel" in answer.detail
    assert router.requests == []
