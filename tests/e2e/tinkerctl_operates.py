# SPDX-License-Identifier: Apache-2.0
"""Every command of tinkerctl, as a table and as JSON, against a daemon with samples in every state."""

import json
import os
import re
import shutil
import signal
import subprocess
import threading

import pytest

from replay_router import Gate, holds, refuses, replays
from support.captures import capture
from support.client import Client
from support.daemon import BINARIES
from support.waiting import eventually

OK, FAILED, USAGE, NOT_RUNNING, NOT_ALLOWED, NOT_FOUND = 0, 1, 2, 3, 4, 5
ONE = capture("direct/ok-n1-max1")


class House:
    """A daemon with one sample that is queued, one in flight, one completed, one failed, and one delivered."""

    def __init__(self, daemon, router, client):
        self.daemon, self.client, self.gate = daemon, client, Gate()
        router.on([1, 2], holds(self.gate, replays(ONE)))
        router.on([4], refuses(400, "not this one"))
        self.delivered = client.submit([3])
        client.outcome(self.delivered)
        self.completed = client.submit([5])
        self.failed = client.submit([4])
        eventually(lambda: self.state(self.failed) == "failed" and self.state(self.completed) == "completed", "both have ended")
        self.in_flight = client.submit([1, 2])
        router.wait_for(1, [1, 2])
        self.queued = client.submit([6])

    def state(self, request_id):
        return self.daemon.ask("futures", "show", request_id)["state"]


@pytest.fixture
def house(start_daemon, router):
    daemon = start_daemon("--upstream", router.url, "--forwarding-inference-max-connections", "1")
    with Client(daemon) as client:
        yield House(daemon, router, client)


def test_status(house, router):
    status = house.daemon.ask("status")

    samples = status["samples"]
    assert {state: samples[state] for state in ("queued", "in_flight", "completed", "failed", "delivered")} == dict.fromkeys(
        ("queued", "in_flight", "completed", "failed", "delivered"), "1"
    )
    assert status["upstreams"] == [router.url]
    assert (status["listening"], status["base_model"], status["draining"]) == (house.daemon.url, "tiny", False)
    assert int(status["pid"]) == house.daemon.process.pid
    assert (status["upstream"]["connections"], status["upstream"]["max_connections"]) == ("1", "1")
    assert status["clients"]["connections"] == "1"
    text = house.daemon.ctl("status").stdout
    for words in (house.daemon.url, router.url, "SAMPLES", "QUEUED", "CONNECTIONS", "WHERE THE TIME GOES", "samples_accepted"):
        assert words in text


def test_store_info(house):
    store = house.daemon.ask("store", "info")

    tables = {table["name"]: int(table["rows"]) for table in store["tables"]}
    assert (tables["sessions"], tables["sampling_sessions"], tables["futures"]) == (1, 1, 0)
    assert store["path"] == str(house.daemon.state_dir / "tinker.db") and store["daemon_running"]
    assert store["journal_mode"] == "wal"
    assert re.search(r"sampling_sessions +1\n", house.daemon.ctl("store", "info").stdout)


def test_futures_count(house):
    counts = house.daemon.ask("futures", "count")

    by_state = {one["name"]: int(one["count"]) for one in counts["by_state"]}
    assert by_state["queued"] == by_state["in_flight"] == by_state["completed"] == by_state["failed"] == 1
    assert by_state["delivered"] + by_state["confirmed"] == 1 and counts["total"] == "5"
    assert counts["by_model"] == [{"name": "tiny", "count": "5"}]
    assert counts["by_sampling_session"] == [{"name": house.client.sampler, "count": "5"}]
    assert len(counts["by_session"]) == 1
    assert sum(int(one["count"]) for one in counts["by_age"]) == 2, "ages are those of live ones"
    text = house.daemon.ctl("futures", "count").stdout
    assert text.startswith("5 futures") and re.search(r"in_flight +1\n", text)


def test_futures_list(house):
    everything = house.daemon.ask("futures", "list")["futures"]
    assert [one["id"] for one in everything] == [
        house.delivered,
        house.completed,
        house.failed,
        house.in_flight,
        house.queued,
    ], "oldest first"

    for state, request_id in (("queued", house.queued), ("in_flight", house.in_flight), ("failed", house.failed)):
        assert [one["id"] for one in house.daemon.ask("futures", "list", "--state", state)["futures"]] == [request_id]
    assert len(house.daemon.ask("futures", "list", "--session", house.client.sampler)["futures"]) == 5
    assert len(house.daemon.ask("futures", "list", "--model", "tiny")["futures"]) == 5
    assert house.daemon.ask("futures", "list", "--model", "other")["futures"] == []
    limited = house.daemon.ask("futures", "list", "--limit", "2")
    assert (len(limited["futures"]), limited["more"]) == (2, "3")
    text = house.daemon.ctl("futures", "list", "--limit", "2").stdout
    assert house.delivered in text and house.queued not in text and "and 3 more" in text


def test_futures_list_refuses_a_state_that_is_none(house):
    said = house.daemon.ctl("futures", "list", "--state", "lost")

    assert said.returncode == FAILED and "lost" in said.stderr and "queued" in said.stderr


def test_futures_show(house):
    failed = house.daemon.ask("futures", "show", house.failed)

    assert (failed["state"], failed["failure_category"], failed["attempts"]) == ("failed", "user", "1")
    assert "not this one" in failed["failure"]
    assert (failed["sampling_session"], failed["model"], failed["num_samples"]) == (house.client.sampler, "tiny", "1")
    delivered = house.daemon.ask("futures", "show", house.delivered)
    assert (delivered["deliveries"], delivered["seq_id"]) == ("1", "0") and int(delivered["result_bytes"]) > 0
    text = house.daemon.ctl("futures", "show", house.queued).stdout
    assert re.search(r"^state +queued$", text, re.M) and house.queued in text


@pytest.mark.parametrize(("request_id", "code"), [("s1", NOT_FOUND), ("nonsense", FAILED), ("7", FAILED)])
def test_futures_show_of_an_unknown_id(request_id, code, daemon):
    said = daemon.ctl("futures", "show", request_id)

    assert said.returncode == code and request_id in said.stderr and said.stdout == ""


def test_sessions_list(house):
    [session] = house.daemon.ask("sessions", "list")["sessions"]

    assert (session["status"], session["sdk_version"], session["sampling_sessions"], session["live_samples"]) == (
        "active",
        "e2e",
        "1",
        "2",
    )
    assert (session["heartbeats"], session["heartbeat_age_sec"]) == ("0", -1)
    text = house.daemon.ctl("sessions", "list").stdout
    assert session["id"] in text and "none yet" in text


def test_config_get_and_set_act_at_once(house):
    before = house.daemon.ask("config", "get", "poll_hold_sec")
    assert (before["value"], before["default"], before["source"], before["change"]) == ("30", "30", "default", "live")

    after = house.daemon.ask("config", "set", "poll_hold_sec", "0.2")

    assert (after["value"], after["source"]) == ("0.2", "live")
    assert house.client.poll(house.in_flight).status == 408, "a new poll is held for the new time"


def test_config_set_raises_a_limit_under_load(house):
    assert house.daemon.ctl("config", "set", "forwarding_inference_max_connections", "10").returncode == OK

    eventually(lambda: house.state(house.queued) == "completed", "the queued sample is sent beside the one that is held")
    assert house.state(house.in_flight) == "in_flight"


def test_config_list_names_every_setting_with_its_source(house):
    settings = {one["name"]: one for one in house.daemon.ask("config", "list")["settings"]}

    wanted = {
        "sample_max_concurrent_requests": "2000",
        "external_future_completed_ttl_sec": "3600",
        "external_future_retrieved_ttl_sec": "300",
        "forwarding_inference_timeout_sec": "2048",
        "forwarding_inference_max_connections": "1",
        "poll_hold_sec": "30",
    }
    assert {name: settings[name]["value"] for name in wanted} == wanted
    assert {settings[name]["change"] for name in wanted} == {"live"}
    assert settings["forwarding_inference_max_connections"]["source"] == "flag"
    assert settings["port"]["change"] == "restart"
    text = house.daemon.ctl("config", "list").stdout
    assert all(name in text for name in settings)


@pytest.mark.parametrize(
    ("name", "value", "code", "words"),
    [
        ("poll_hold_sec", "60", FAILED, "44"),
        ("poll_hold_sec", "soon", FAILED, "poll_hold_sec"),
        ("poll_hold_sec", "nan", FAILED, "poll_hold_sec"),
        ("port", "9000", FAILED, "restart"),
        ("no_such_setting", "1", NOT_FOUND, "no_such_setting"),
        ("max_outstanding", "0", FAILED, "max_outstanding"),
    ],
)
def test_config_set_refuses_in_words(name, value, code, words, daemon):
    said = daemon.ctl("config", "set", name, value)

    assert said.returncode == code and words in said.stderr and said.stdout == ""
    assert daemon.ask("config", "get", "poll_hold_sec")["value"] == "30"


def test_a_persisted_setting_survives_a_restart_and_another_does_not(start_daemon, router):
    daemon = start_daemon("--upstream", router.url)
    assert daemon.ctl("config", "set", "poll_hold_sec", "7", "--persist").returncode == OK
    assert daemon.ctl("config", "set", "sample_max_concurrent_requests", "99").returncode == OK

    assert daemon.stop() == 0
    daemon.start("--upstream", router.url)

    kept = daemon.ask("config", "get", "poll_hold_sec")
    assert (kept["value"], kept["source"]) == ("7", "override")
    assert daemon.ask("config", "get", "sample_max_concurrent_requests")["value"] == "2000"


def test_what_was_set_is_taken_back_now_and_after_a_restart(start_daemon, router):
    daemon = start_daemon("--upstream", router.url)
    assert daemon.ctl("config", "set", "poll_hold_sec", "7", "--persist").returncode == OK

    back = daemon.ask("config", "unset", "poll_hold_sec")

    assert (back["value"], back["source"]) == ("30", "default")
    assert daemon.stop() == 0
    daemon.start("--upstream", router.url)
    assert daemon.ask("config", "get", "poll_hold_sec")["value"] == "30"


def test_log_tail_filters(daemon, client):
    client.get("/nothing")
    client.post("retrieve_future", b"{")
    client.sample([3])
    eventually(lambda: len(daemon.ctl("log", "tail").stdout.splitlines()) >= 6, "the log is written in batches")

    lines = daemon.ctl("log", "tail").stdout.splitlines()
    assert all(re.fullmatch(r"\S+ 127\.0\.0\.1:\d+ [A-Z]+ /\S* \d{3} \d+ \d+ [\d.]+ \S+", line) for line in lines), lines
    records = [json.loads(line) for line in daemon.ctl("log", "tail", "--json").stdout.splitlines()]
    assert [record["status"] for record in records if record["path"] == "/nothing"] == [404]
    assert len(daemon.ctl("log", "tail", "-n", "2").stdout.splitlines()) == 2

    def shown(*filters):
        return [json.loads(line) for line in daemon.ctl("log", "tail", "--json", *filters).stdout.splitlines()]

    assert {record["status"] for record in shown("--status", "4xx")} == {404, 422}
    assert {record["status"] for record in shown("--status", "422")} == {422}
    assert {record["status"] for record in shown("--status", ">=400")} == {404, 422}
    assert {record["path"] for record in shown("--path", "/api/v1/asample")} == {"/api/v1/asample"}
    assert shown("--slow", "60000") == []
    asample, poll = shown("--path", "/api/v1/asample")[0], shown("--path", "/api/v1/retrieve_future", "--status", "200")[0]
    assert asample["request_id"] == poll["request_id"] != "" and asample["request_id"].startswith("s")
    assert int(asample["bytes_in"]) > 100 and int(poll["bytes_out"]) > 10
    bad = daemon.ctl("log", "tail", "--status", "teapot")
    assert bad.returncode == USAGE and "teapot" in bad.stderr


def test_log_tail_follows_a_rotated_log(daemon, client):
    command = [BINARIES / "tinkerctl", "--socket", daemon.socket, "log", "tail", "-f", "-n", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as tail:
        lines = []
        reader = threading.Thread(target=lambda: [lines.append(line) for line in tail.stdout])
        reader.start()

        def asked_and_shown(path):
            client.get(path)
            return any(path in line for line in lines)

        try:
            eventually(lambda: asked_and_shown("/before"), "the tail shows new lines")
            daemon.access_log.rename(daemon.access_log.with_suffix(".1"))
            daemon.process.send_signal(signal.SIGUSR1)
            eventually(daemon.access_log.exists, "the log is reopened")
            eventually(lambda: asked_and_shown("/after"), "the tail goes on in the new log")
        finally:
            tail.kill()
            reader.join()
    assert "/after" not in daemon.access_log.with_suffix(".1").read_text()


def test_drain_and_resume(house):
    drained = house.daemon.ask("drain")

    assert drained == {"draining": True, "live_samples": "2"}
    assert "DRAINING" in house.daemon.ctl("status").stdout
    assert house.client.post("asample", house.client.sample_body([9])).status == 429
    house.gate.open()
    assert house.client.outcome(house.queued).sample, "what was accepted goes on"
    assert house.daemon.ask("resume") == {"draining": False, "live_samples": "0"}
    assert house.client.sample([9])


def test_version(daemon):
    versions = daemon.ask("version")

    assert versions["version"] == versions["tinkerctl_version"] and re.fullmatch(r"\d+\.\d+\.\d+", versions["version"])
    assert daemon.ctl("--version").stdout.strip() == f"tinkerctl {versions['version']}"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nonsense"],
        ["futures"],
        ["futures", "show"],
        ["config", "set", "x"],
        ["status", "--nonsense"],
        ["futures", "list", "--limit", "x"],
    ],
)
def test_a_wrong_command_line_is_2(words, daemon):
    said = daemon.ctl(*words)

    assert said.returncode == USAGE and said.stderr


@pytest.mark.parametrize("words", [["--help"], ["status", "--help"], ["futures", "list", "--help"]])
def test_help_is_0(words, daemon):
    said = daemon.ctl(*words)

    assert said.returncode == OK and len(said.stdout) > 100


def test_when_the_daemon_is_down(start_daemon, router):
    daemon = start_daemon("--upstream", router.url)
    with Client(daemon) as client:
        client.sample([3])
    assert daemon.stop() == 0

    for words in (["status"], ["futures", "count"], ["drain"], ["config", "get", "port"]):
        said = daemon.ctl(*words)
        assert said.returncode == NOT_RUNNING and said.stdout == ""
        assert "tinkerd is not running" in said.stderr and str(daemon.socket) in said.stderr
        assert len(said.stderr.splitlines()) == 1, "one clear line"
    url = f"sqlite:///{daemon.state_dir / 'tinker.db'}"
    store = daemon.ctl("store", "info", "--database-url", url)
    assert store.returncode == OK and "tinkerd is not running" in store.stdout and re.search(r"sessions +1\n", store.stdout)
    sessions = daemon.ctl("sessions", "list", "--json", "--database-url", url)
    assert json.loads(sessions.stdout)["sessions"][0]["sdk_version"] == "e2e"


def test_a_socket_that_an_earlier_run_left_behind(start_daemon, router):
    daemon = start_daemon("--upstream", router.url)
    daemon.stop(signal.SIGKILL)

    said = daemon.ctl("status")

    assert said.returncode == NOT_RUNNING and "left behind" in said.stderr
    daemon.start("--upstream", router.url)
    assert daemon.ctl("status").returncode == OK, "the next run takes the socket over"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_socket_that_is_not_yours(daemon):
    for folder in (daemon.folder, *daemon.folder.parents):
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    # The tree may lie where only its owner may look.
    tinkerctl = shutil.copy(BINARIES / "tinkerctl", daemon.folder)
    command = [tinkerctl, "--socket", daemon.socket, "status"]

    said = subprocess.run(command, capture_output=True, text=True, user=65534, group=65534, extra_groups=[], timeout=30)

    assert said.returncode == NOT_ALLOWED and said.stdout == ""
    assert "not allowed" in said.stderr and str(daemon.socket) in said.stderr and "group" in said.stderr
