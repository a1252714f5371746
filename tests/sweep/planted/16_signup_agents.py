#!/usr/bin/env python3
# Signs up the crew of agents and keeps the secret of each in $OUT_DIR (mode 0600).
import http.client, json, os, signal, sys, time
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

OUT = os.environ.get("OUT_DIR", "out")
os.makedirs(OUT, mode=0o700, exist_ok=True)
def keep(handle, secret):
    with open(os.open(f"{OUT}/{handle}.secret", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(secret + "\n")

known = {a["handle"]: a["id"] for a in call("GET", "/v1/agents?include_revoked=true")["data"]}
for handle in ("crew-north", "crew-south", "crew-east"):
    if handle in known:
        keep(handle, call("POST", f"/v1/agents/{known[handle]}/credentials:rotate")["secret"])
        print(f"{handle}: was there, has a new secret")
        continue
    # Handles are unique, so a sign-up may be sent again without making a second agent.
    agent = call("POST", "/v1/agents", {"handle": handle, "display_name": handle.replace("-", " ").title(),
                 "permissions": ["read", "comment"]}, want=(201, 409), safe=True)
    if "credential" in agent: keep(handle, agent["credential"]["secret"])
    print(f"{handle}: signed up")
