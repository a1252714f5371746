"""Tests against the mock server, with nothing but the standard library: a process a module, a sandbox a test."""
import json
import os
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

WS_MOCK = os.environ.get("WS_MOCK", "ws-mock")


def call(url, body=None, token=None, method=None):
    """The answer's JSON; an error answer raises urllib.error.HTTPError."""
    headers = {"Content-Type": "application/json"} if body is not None else {}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers, method=method or ("GET" if body is None else "POST"))
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
        return json.loads(text) if text else None


def setUpModule():
    global folder, mock, control_url
    folder = tempfile.TemporaryDirectory()
    ready = os.path.join(folder.name, "ready.json")
    mock = subprocess.Popen(
        [WS_MOCK, "--ready-file", ready, "--exit-with-parent", "--log", "off", "--clock", "frozen:2026-11-20T10:00:00Z"],
        stdout=subprocess.DEVNULL,
    )
    while not os.path.exists(ready):  # written whole, by rename, once the server answers
        if mock.poll() is not None:
            raise RuntimeError(f"ws-mock ended with {mock.returncode}")
        time.sleep(0.01)
    with open(ready, encoding="utf-8") as file:
        control_url = json.load(file)["control_url"]


def tearDownModule():
    mock.terminate()
    mock.wait()
    folder.cleanup()


class Notes(unittest.TestCase):
    def setUp(self):
        sandbox = call(f"{control_url}/sandboxes", {})
        self.base_url, self.control, self.token = sandbox["base_url"], sandbox["control_url"], sandbox["token"]
        self.addCleanup(call, f"{control_url}/sandboxes/{sandbox['id']}", method="DELETE")

    def api(self, path, body=None):
        return call(self.base_url + path, body, self.token)

    def test_a_note_is_created_once(self):
        made = self.api("/v1/documents", {"title": "Tides", "content": "High water at six."})
        self.assertEqual(self.api(made["links"]["self"])["content"], "High water at six.")
        call(f"{self.control}/requests:verify", {"match": {"operation": "docs.create"}, "times": 1})

    def test_an_answer_that_is_lost_after_the_commit(self):
        call(f"{self.control}/faults", {"operation": "docs.create", "phase": "after", "effect": {"reset": True}})
        before = len(self.api("/v1/documents")["data"])
        with self.assertRaises(OSError):
            self.api("/v1/documents", {"title": "Tides", "content": ""})
        self.assertEqual(len(self.api("/v1/documents")["data"]), before + 1)

    def test_a_lease_ends_without_waiting_for_it(self):
        call(f"{self.control}/events", {"kind": "agent.ping"})
        claim = {"worker_id": "w", "lease_seconds": 30}
        first = self.api("/v1/agent-events:claim", claim)["event"]
        self.assertIsNone(self.api("/v1/agent-events:claim", claim)["event"])
        fired = call(f"{self.control}/clock:advance", {"seconds": 40})["fired"]
        self.assertEqual([one["kind"] for one in fired], ["lease", "event"])
        self.assertEqual(self.api("/v1/agent-events:claim", claim)["event"]["id"], first["id"])


if __name__ == "__main__":
    unittest.main()
