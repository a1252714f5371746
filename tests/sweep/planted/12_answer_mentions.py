#!/usr/bin/env python3
# Works the event queue of the helper agent: every mention gets a reply.
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

TEXT = {"title": "Helper desk", "content": "Ask the helper in a comment."}
doc = call("POST", "/v1/documents", TEXT, "desk-" + hashlib.sha256(repr(TEXT).encode()).hexdigest(), (201,))["id"]
if not any(a["handle"] == "helper" for a in call("GET", "/v1/agents")["data"]):
    call("POST", "/v1/agents", {"handle": "helper", "display_name": "Helper", "permissions": ["read", "comment"]}, want=(201,))
call("POST", f"/v1/documents/{doc}/shares", {"agent_handle": "helper", "permission": "comment"}, want=(200, 201))
call("POST", f"/v1/documents/{doc}/comments", {"body": "@helper which pump is due?"}, want=(201,))

for count in range(20):
    event = call("POST", "/v1/agent-events:claim", {"worker_id": "desk-1", "lease_seconds": 120})["event"]
    if event is None: break
    lease, at = {"lease_token": event["lease_token"]}, f"/v1/agent-events/{event['id']}"
    mention = event.get("kind") == "comment.mention"
    if event.get("kind") != "document.shared" and not (mention and event.get("document_id") and event.get("thread_id")):
        call("POST", at + ":fail", {**lease, "error": "not an event for the desk", "retryable": False}, safe=True)
        sys.exit(f"event {event['id']}: not understood")
    call("POST", at + ":complete", {**lease, "result": {"action": "reply" if mention else "none"}}, safe=True)
    if mention:
        thread = f"/v1/documents/{event['document_id']}/comments/{event['thread_id']}"
        call("POST", thread + "/replies", {"body": "Pump 2, on Friday.", "entry_point": "desk"}, want=(201,))
    print(f"{event['kind']} {event['id']}: {'replied' if mention else 'nothing to do'}")
