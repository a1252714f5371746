#!/usr/bin/env python3
# Exports every document with its content to $OUT_DIR/export.jsonl.
import hashlib, http.client, json, os, signal, sys, time
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from urllib.parse import urlencode, urlsplit
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

for n in range(1, 6):
    doc = {"title": f"Recipe {n}", "content": f"# Recipe {n}\n\nStir {n} times."}
    call("POST", "/v1/documents", doc, "recipe-" + hashlib.sha256(repr(doc).encode()).hexdigest(), (201,))

target = os.path.join(os.environ.get("OUT_DIR", "out"), "export.jsonl")
os.makedirs(os.path.dirname(target), exist_ok=True)
count, cursor = 0, None
with open(target, "w", encoding="utf-8") as out:
    while True:
        page = call("GET", "/v1/documents?" + urlencode({"limit": 3, **({"cursor": cursor} if cursor else {})}))
        for item in page["data"]:
            doc = call("GET", f"/v1/documents/{item['id']}")
            out.write(json.dumps({"id": doc["id"], "title": doc.get("title"), "content": doc["content"]}) + "\n")
            count += 1
        cursor = page.get("next_cursor")
        if not cursor: break
print(f"exported {count} documents to {target}")
