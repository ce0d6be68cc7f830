# SPDX-License-Identifier: Apache-2.0
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
    """Starts tinkerd with these flags; all that were started are stopped at the end, and must have lived until then."""
    started = []

    def start(*flags):
        started.append(Daemon(tmp_path / f"d{len(started)}", *flags))
        return started[-1]

    request.node.daemons = started
    yield start
    crashed = [daemon.process.returncode for daemon in started if not daemon.running and daemon.process.returncode != 0]
    for daemon in started:
        daemon.stop()
    assert not crashed, f"tinkerd ended by itself with {crashed}"


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
