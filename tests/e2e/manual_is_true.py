# SPDX-License-Identifier: Apache-2.0
"""What must be written twice is compared: the manual pages list every setting, command and option as the programs have them."""

import re
import subprocess
from pathlib import Path

import pytest

from support.daemon import BINARIES

MAN = Path(__file__).resolve().parents[2] / "man"


def page(name):
    return (MAN / name).read_text().replace("\\-", "-").replace("\\e", "\\")


def help_of(*command):
    return subprocess.run([BINARIES / command[0], *command[1:], "--help"], capture_output=True, text=True, check=True).stdout


def test_tinkerd_manual_lists_every_setting(daemon):
    text = page("tinkerd.8")

    for setting in daemon.ask("config", "list")["settings"]:
        entry = re.search(rf"^\.B {setting['name']}\n(.*)\n\.br\n(.*)$", text, re.M)
        assert entry, f"tinkerd(8) lacks {setting['name']}"
        assert entry[1] == setting["help"], setting["name"]
        assert (setting["default"] or "none") in entry[2], setting["name"]
        assert setting["range"].replace("…", "..") in entry[2], setting["name"]
        assert ("live" in entry[2]) == (setting["change"] == "live"), setting["name"]


def test_tinkerctl_manual_lists_every_command():
    text = re.sub(r"[\"\\]|fB|fI|fP", "", page("tinkerctl.1"))
    groups = re.findall(r"^  ([a-z]+) ", help_of("tinkerctl").split("Subcommands:")[1], re.M)
    assert {"status", "futures", "config", "log"} <= set(groups)

    for group in groups:
        inner = help_of("tinkerctl", group)
        names = [f"{group} {name}" for name in re.findall(r"^  ([a-z]+) ", inner.split("Subcommands:")[1], re.M)] if "Subcommands:" in inner else [group]
        for name in names:
            assert re.search(rf"^\.BR? {name}\b", text, re.M), f"tinkerctl(1) lacks {name}"
            for option in set(re.findall(r"(--[a-z-]+)", help_of("tinkerctl", *name.split()))) - {"--help"}:
                assert option in text, f"tinkerctl(1) lacks {option} of {name}"


@pytest.mark.parametrize("command", ["all", "router", "load", "compare"])
def test_tinker_load_manual_lists_every_option(command):
    text = page("tinker-load.1")

    for option in set(re.findall(r"(--[a-z-]+)", help_of("tinker-load", command))) - {"--help"}:
        assert option in text, f"tinker-load(1) lacks {option} of {command}"
