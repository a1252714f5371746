#!/usr/bin/env python3
# Uploads a measurement file, then downloads it to $OUT_DIR/series.csv.
import http.client, json, os, shutil, signal, sys, time
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

DATA = "".join(f"{n},{n * n % 977}\n" for n in range(40000)).encode()
FILE = {"file_name": "series.csv", "mime_type": "text/csv", "size_bytes": len(DATA)}
up = call("POST", "/v1/files/uploads", FILE, want=(201,))
status, _, _ = send("PUT", up["upload_url"], DATA, up["upload_headers"])
if status not in (200, 201, 204): sys.exit(f"sending the bytes: status {status}")
asset = call("POST", "/v1/files/uploads:finalize", {**FILE, "upload_id": up["upload_id"], "blob_name": up["blob_name"]}, want=(201,))
if asset["size_bytes"] != len(DATA): sys.exit("the asset has another size")

out = os.environ.get("OUT_DIR", "out") + "/series.csv"
os.makedirs(os.path.dirname(out), exist_ok=True)
at = urlsplit(f"{BASE}/v1/files/{asset['id']}/content")
conn = getattr(http.client, f"{at.scheme.upper()}Connection")(at.hostname, at.port, timeout=5)
signal.alarm(5)
conn.request("GET", at.path, headers={"Authorization": f"Bearer {TOKEN}"})
answer = conn.getresponse()
if answer.status != 200: sys.exit(f"downloading: status {answer.status}")
with open(out + ".part", "wb") as part:
    shutil.copyfileobj(answer, part, 65536)
signal.alarm(0); os.replace(out + ".part", out)
print(f"downloaded {asset['original_file_name']} to {out}, {os.path.getsize(out)} bytes")
