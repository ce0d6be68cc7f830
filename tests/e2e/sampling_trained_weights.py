# SPDX-License-Identifier: Apache-2.0
"""Samples from trained weights: models and checkpoints that the engine wrote decide (server-contract.md §1.3 (16), §1.5)."""

import pytest

from support.client import Client
from support.engine import add_model, set_checkpoint

MODEL, CHECKPOINT = "model_1234abcd", "step-10"
PATH = f"tinker://{MODEL}/sampler_weights/{CHECKPOINT}"


@pytest.fixture
def session(client, daemon):
    session = client.post("create_session", {"sdk_version": "0.38.0"}).json["session_id"]
    add_model(daemon, session, MODEL)
    return session


def sample_from(client, model_path):
    body = {
        "prompt": {"chunks": [{"type": "encoded_text", "tokens": [5]}]},
        "sampling_params": {"max_tokens": 4},
        "model_path": model_path,
    }
    return client.post("asample", body)


def sampler_of(client, session, model_path):
    made = client.post(
        "create_sampling_session", {"session_id": session, "sampling_session_seq_id": 0, "model_path": model_path}
    )
    assert made.status == 200
    return made.json["sampling_session_id"]


@pytest.mark.parametrize("path", [PATH, f"tinker://{MODEL}/{CHECKPOINT}", PATH + "?a=b#c"])
def test_lora_weights_are_asked_for_by_the_models_id(path, client, daemon, router, session):
    set_checkpoint(daemon, MODEL, CHECKPOINT, "COMPLETED")

    answer = sample_from(client, path)

    assert client.outcome(answer.json["request_id"]).sample
    assert router.requests[0].json["model"] == MODEL


def test_full_weights_are_asked_for_by_the_served_name(client, daemon, router, session):
    add_model(daemon, session, "model_full", rank=0)
    set_checkpoint(daemon, "model_full", CHECKPOINT, "COMPLETED")

    answer = sample_from(client, f"tinker://model_full/sampler_weights/{CHECKPOINT}")

    assert client.outcome(answer.json["request_id"]).sample
    assert router.requests[0].json["model"] == "tiny"


@pytest.mark.parametrize(
    ("checkpoint", "status", "text"),
    [
        (None, 404, f"Checkpoint not found: {MODEL}/{CHECKPOINT}"),
        ("PENDING", 425, "Checkpoint is still being created"),
        ("FAILED", 500, "Checkpoint creation failed: disk full"),
    ],
)
def test_weights_that_are_not_there_are_refused_and_looked_for_again(checkpoint, status, text, client, daemon, router, session):
    if checkpoint:
        set_checkpoint(daemon, MODEL, CHECKPOINT, checkpoint, error="disk full")
    sampler = sampler_of(client, session, PATH)
    body = {**client.sample_body([5]), "sampling_session_id": sampler}

    answers = [sample_from(client, PATH), client.post("asample", body)]

    assert [(answer.status, answer.detail) for answer in answers] == [(status, text)] * 2
    assert router.requests == []
    set_checkpoint(daemon, MODEL, CHECKPOINT, "COMPLETED")
    assert client.post("asample", body).status == 200, "a failure is not remembered"


def test_training_weights_are_no_sampler_weights(client, daemon, session):
    set_checkpoint(daemon, MODEL, CHECKPOINT, "COMPLETED", kind="TRAINING")

    assert sample_from(client, PATH).status == 404


def test_weights_of_an_unknown_model_are_404(client, session):
    answer = sample_from(client, "tinker://model_0/sampler_weights/x")

    assert (answer.status, answer.detail) == (404, "Model not found")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "x",
        "tinker://",
        "tinker://m",
        "tinker://m/",
        "tinker:///c",
        "tinker://m/weights/c",
        "tinker://m/sampler_weights/a/b",
        "http://m/c",
    ],
)
def test_what_is_no_path_of_sampler_weights_is_refused(path, client, session):
    answer = sample_from(client, path)

    assert answer.status == 400
    assert (
        answer.detail == "model_path must be tinker://model_id/checkpoint_id or tinker://model_id/sampler_weights/checkpoint_id"
    )


def test_a_sampler_of_weights_names_their_base_model(client, daemon, session):
    sampler = sampler_of(client, session, PATH)

    answer = client.get(f"/api/v1/samplers/{sampler}")

    assert answer.json == {"sampler_id": sampler, "base_model": "tiny", "model_path": PATH}


def test_a_sampling_session_survives_a_restart(start_daemon, router):
    daemon = start_daemon("--upstream", router.url)
    with Client(daemon) as client:
        sampler = client.sampler
    assert daemon.stop() == 0
    daemon.start("--upstream", router.url)

    with Client(daemon) as client:
        answer = client.post("asample", {**client.sample_body([5]), "sampling_session_id": sampler})

        assert client.outcome(answer.json["request_id"]).sample
