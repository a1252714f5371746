"""What a fresh world costs: a sandbox, a reset, a snapshot of 1,000 documents and the way back to it, and the clock.

Usage: worlds.py BASE_URL TOKEN PID. Medians over one kept connection; Python's own part of a call is told first.
"""
import http.client
import json
import statistics
import sys
import time
from urllib.parse import urlsplit

base_url, token, pid = sys.argv[1:]
connection = http.client.HTTPConnection(urlsplit(base_url).netloc)
headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}


def call(method, path, body=None, expect=(200, 201, 204)):
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status not in expect:
        raise SystemExit(f"{method} {path}: {answer.status} {text[:300]}")
    return json.loads(text) if text else None


def median(work, runs=50):
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        times.append((time.perf_counter() - begin) * 1000)
    return statistics.median(times)


def resident():
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def show(what, value, unit="ms"):
    print(f"  {what:<45} {value:8.2f} {unit}")


opened = []


def open_one():
    opened.append(call("POST", "/_mock/sandboxes", {})["id"])


show("a call that does nothing (health)", median(lambda: call("GET", "/_mock/health")))
open_one()  # the first makes the seed that the others are copies of
before = resident()
show("sandbox: open", median(open_one, 200))
show("sandbox: memory, unused, of 200", (resident() - before) * 1024 / 200, "KiB")
for one in opened:
    call("GET", f"/_s/{one}/v1/documents")
    call("POST", f"/_s/{one}/v1/documents", {"title": "T", "content": "text"})
show("sandbox: memory, used, of 200", (resident() - before) * 1024 / 200, "KiB")
show("sandbox: close", median(lambda: call("DELETE", f"/_mock/sandboxes/{opened.pop()}"), 200))
show("resident once all are closed, more than before", resident() - before, "MiB")
show("reset to the seed", median(lambda: call("POST", "/_mock/reset", {"to": "seed"})))
for i in range(1000):
    call("POST", "/v1/documents", {"title": f"Note {i}", "content": "# A heading\n\nSome text.\n" * 20})
show("snapshot of 1,000 documents", median(lambda: call("PUT", "/_mock/snapshots/then")))
show("back to it", median(lambda: call("POST", "/_mock/snapshots/then:restore")))
show("reset to it", median(lambda: call("POST", "/_mock/reset", {"to": "then"})))

call("POST", "/_mock/reset", {"to": "seed"})
begin = time.perf_counter()
for _ in range(100):
    call("POST", "/_mock/events", {"kind": "agent.ping"})
    call("POST", "/v1/agent-events:claim", {"worker_id": "w", "lease_seconds": 30})
    call("POST", "/_mock/clock:advance", {"seconds": 3600})
show("100 leases that end, an hour each", (time.perf_counter() - begin) * 1000)
