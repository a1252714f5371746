#!/usr/bin/env python3
# Uploads the meeting minutes and has the service organize them into documents.
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

DATA = b"# Minutes\n\n## Decisions\n\nBuy the crane.\n\n## Actions\n\nAsk for three offers.\n"
FILE = {"file_name": "minutes.md", "mime_type": "text/markdown", "size_bytes": len(DATA)}
up = call("POST", "/v1/files/uploads", FILE, want=(201,))
for n in range(1, 5):
    status, head, _ = send("PUT", up["upload_url"], DATA, up["upload_headers"])
    if n == 4 or status not in (0, 429, 502, 503, 504): break
    wait(head.get("Retry-After"), n)
if status not in (200, 201, 204): sys.exit(f"sending the bytes: status {status}")
asset = call("POST", "/v1/files/uploads:finalize", {**FILE, "upload_id": up["upload_id"], "blob_name": up["blob_name"]}, want=(201,))
if asset["size_bytes"] != len(DATA) or asset.get("content_sha256") not in (None, hashlib.sha256(DATA).hexdigest()):
    sys.exit(f"asset {asset['id']} is not what was sent")
print(f"uploaded {FILE['file_name']} as {asset['id']}")

run = call("POST", f"/v1/files/{asset['id']}:organize", {"instruction": "One document for each heading."}, want=(202,))
print(f"organized {FILE['file_name']} into documents (operation {run['operation_id']})")
