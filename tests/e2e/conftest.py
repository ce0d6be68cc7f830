# SPDX-License-Identifier: Apache-2.0
import signal

import pytest

from replay_router import ReplayRouter
from support.client import Client
from support.daemon import Daemon


@pytest.fixture
def router():
    with ReplayRouter() as running:
        yield running


@pytest.fixture
def start_daemon(request, tmp_path):
    """Starts tinkerd with these flags. Those that still run at the end are stopped, and all must have ended well."""
    started = []

    def start(*flags):
        started.append(Daemon(tmp_path / f"d{len(started)}", *flags))
        return started[-1]

    request.node.daemons = started
    yield start
    ends = [daemon.stop() for daemon in started]
    faults = [
        line for daemon in started for line in daemon.log().splitlines() if "Sanitizer" in line or "runtime error" in line
    ]
    assert not faults
    assert all(end in (0, -signal.SIGKILL) for end in ends), f"tinkerd ended with {ends}"


@pytest.fixture
def daemon(start_daemon, router):
    """A tinkerd that forwards to the router."""
    return start_daemon("--upstream", router.url)


@pytest.fixture
def client(daemon):
    with Client(daemon) as connected:
        yield connected


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        for number, daemon in enumerate(getattr(item, "daemons", [])):
            report.sections.append((f"tinkerd {number}", daemon.log()[-20000:]))
    return report
