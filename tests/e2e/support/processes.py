# SPDX-License-Identifier: Apache-2.0
"""Processes that others started."""

from pathlib import Path


def children_of(pid):
    """The /proc folders of a process's children."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[1]
        except OSError:
            continue  # it has ended meanwhile
        if int(parent) == pid:
            found.append(folder)
    return found
