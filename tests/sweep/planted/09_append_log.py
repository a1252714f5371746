#!/usr/bin/env python3
# Appends one line to the shift log under its content revision.
import hashlib, http.client, json, os, signal, sys, time
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit
BASE, TOKEN = os.environ["WS_BASE_URL"].rstrip("/"), os.environ["WS_TOKEN"]
def on_alarm(*_): raise TimeoutError("no complete answer within 5 s")
signal.signal(signal.SIGALRM, on_alarm)

def send(method, url, data, headers):
    at = urlsplit(url)
    conn = getattr(http.client, f"{at.scheme.upper()}Connection")(at.hostname, at.port, timeout=5)
    signal.alarm(5)
    try:
        conn.request(method, at.path + ("?" + at.query if at.query else ""), data, headers)
        answer = conn.getresponse()
        return answer.status, answer.headers, answer.read()
    except (OSError, http.client.HTTPException):
        return 0, {}, b""
    finally:
        signal.alarm(0); conn.close()

def wait(value, n):
    s = n if value is None else int(value) if value.isdigit() else (
        parsedate_to_datetime(value) - datetime.now(timezone.utc)).total_seconds()
    time.sleep(max(0, s)) if s <= 30 else sys.exit(f"asked to wait {value}, giving up")

def call(method, path, body=None, key=None, want=(200,), safe=False):
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    headers |= {"Idempotency-Key": key} if key else {}
    for n in range(1, 5):
        status, head, raw = send(method, BASE + path, None if body is None else json.dumps(body), headers)
        unsure = status in (0, 502, 503, 504) and (method == "GET" or key or safe)
        busy = status == 429 or (status == 409 and key and "Retry-After" in head)
        if n == 4 or not (unsure or busy): break
        wait(head.get("Retry-After"), n)
    if status not in want: sys.exit(f"{method} {path}: status {status}")
    return json.loads(raw)

TEXT = "# Shift log\n\n- 06:00 handed over\n"
key = "log-" + hashlib.sha256(TEXT.encode()).hexdigest()
path = "/v1/documents/" + call("POST", "/v1/documents", {"title": "Shift log", "content": TEXT}, key, (201,))["id"]

doc = call("GET", path)
text = doc["content"].rstrip("\n") + f"\n- {datetime.now(timezone.utc):%H:%M} pump 2 checked\n"
for attempt in range(3):
    answer = call("PUT", path, {"content": text, "expected_content_revision": doc["content_revision"]}, want=(200, 409, 412))
    if "content_revision" in answer:
        print(f"appended to the shift log, revision {answer['content_revision']}")
        break
    print("the log has changed meanwhile, trying again", file=sys.stderr)
    doc = call("GET", path)
else:
    sys.exit("the shift log changes too often, nothing was appended")
