# SPDX-License-Identifier: Apache-2.0
"""Reads and writes the shared database from outside the daemon, as the peer's engine does."""

import json
import sqlite3
from contextlib import closing, contextmanager

NOW = "strftime('%Y-%m-%d %H:%M:%f000', 'now')"


@contextmanager
def database(daemon):
    with closing(sqlite3.connect(daemon.state_dir / "tinker.db", timeout=10)) as connection:
        connection.row_factory = sqlite3.Row
        with connection:
            yield connection


def rows(daemon, table):
    with database(daemon) as connection:
        return [dict(row) for row in connection.execute(f"SELECT * FROM {table}")]


def publish(daemon, url):
    """The upstream's URL, as the engine writes it when inference comes up."""
    with database(daemon) as connection:
        connection.execute(
            f"INSERT OR REPLACE INTO engine_state (singleton_id, inference_proxy_url, updated_at) VALUES (1, ?, {NOW})", (url,)
        )


def add_model(daemon, session_id, model_id, rank=32, base_model="tiny"):
    lora = {"rank": rank, "alpha": 32.0, "seed": 1, "train_attn": True, "train_mlp": True, "train_unembed": False}
    with database(daemon) as connection:
        connection.execute(
            f"INSERT INTO models VALUES (?, ?, ?, 'created', 1, ?, {NOW})", (model_id, base_model, json.dumps(lora), session_id)
        )


def set_checkpoint(daemon, model_id, checkpoint_id, status, error=None, kind="SAMPLER"):
    with database(daemon) as connection:
        connection.execute(
            f"INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, {NOW}, NULL, ?)",
            (model_id, checkpoint_id, kind, status, error),
        )
