"""pytest: `mock` is a world of its own for each test. When the test fails, its requests are printed, and kept as a trace."""
import json
import os
import re
import shutil
import subprocess
import urllib.request

import pytest

PROGRAM = os.environ.get("WS_MOCK") or shutil.which("ws-mock") or os.path.join(os.path.dirname(__file__), "ws-mock")


def control(url, body=None, method=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)) as answer:
        return json.loads(answer.read() or b"null")


@pytest.fixture(scope="session")
def mock_server():
    with subprocess.Popen([PROGRAM, "--exit-with-parent", "--log", "off"], stdout=subprocess.PIPE, text=True) as server:
        yield server.stdout.readline().strip()
        server.terminate()


@pytest.fixture
def mock(mock_server, request):
    """base_url, token and control_url of a sandbox."""
    world = control(mock_server + "/_mock/sandboxes", {})
    yield world
    if getattr(request.node, "has_failed", False):
        trace = control(world["control_url"] + "/requests")
        for one in trace["data"]:
            print(one["time"], one["status"], one["method"], one["path"], one["fault"] or "")
        os.makedirs("ws-mock-traces", exist_ok=True)
        with open(f"ws-mock-traces/{re.sub('[^A-Za-z0-9_.-]+', '-', request.node.nodeid)}.json", "w") as file:
            json.dump({"requests": trace["data"], "state": control(world["control_url"] + "/state")}, file, indent=1)
    control(f"{mock_server}/_mock/sandboxes/{world['id']}", method="DELETE")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    if call.when == "call":
        item.has_failed = call.excinfo is not None
    yield
