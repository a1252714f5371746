#!/usr/bin/env bash
# The fault sweep of a usual script (three tries a call, two creates): rows, and what the sweep takes beside the script's
# own time. Bar: <= 5 s for 72 rows on two processors. Then a trace: what it takes, and how quickly it opens and jumps.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./lib.sh
cat >"$work/script.sh" <<'S'
for title in one two three; do
  curl -s -f -m 5 --retry 2 --retry-delay 1 -o /dev/null -H "Authorization: Bearer $WS_TOKEN" \
    -H 'Content-Type: application/json' -d "{\"title\": \"$title\", \"content\": \"text\"}" "$WS_BASE_URL/v1/documents" || exit 1
done
S
for jobs in 1 2; do
  begin=$(date +%s.%N)
  ws-mock sweep --json --jobs "$jobs" --patience 1s --max-rows 72 --skip timeout-before -- sh "$work/script.sh" >"$work/report.json" || true
  end=$(date +%s.%N)
  python3 - "$work/report.json" "$jobs" "$begin" "$end" <<'P'
import json, sys
report, jobs = json.load(open(sys.argv[1])), int(sys.argv[2])
took, own = float(sys.argv[4]) - float(sys.argv[3]), report["own_ms"] / 1000
rows = len(report["rows"])
print(f"  {rows} rows, {jobs} jobs              {took:9.2f} s, of which the script {own / jobs:.2f} s: {took - own / jobs:.2f} s beside it")
P
done

# A trace of 10,000 requests. Bars: the file <= 2 x the journal, opened within 1 s, a jump within 100 ms.
cat >"$work/client.py" <<'P'
import http.client, json, os, urllib.parse
server = http.client.HTTPConnection(urllib.parse.urlsplit(os.environ["WS_BASE_URL"]).netloc)
headers = {"Authorization": "Bearer " + os.environ["WS_TOKEN"], "Content-Type": "application/json"}

def call(method, path, body=None):
    server.request(method, path, None if body is None else json.dumps(body), headers)
    return json.loads(server.getresponse().read())

ids = []
for i in range(10000):
    which = i % 10
    if which == 0:
        ids.append(call("POST", "/v1/documents", {"title": f"Note {i}", "content": "Some words of a note.\n" * 16})["id"])
    elif which < 4:
        call("PATCH", "/v1/documents/" + ids[i * 7 % len(ids)], {"title": f"Title {i}"})
    elif which < 8:
        call("GET", "/v1/documents/" + ids[i * 13 % len(ids)])
    else:
        call("GET", "/v1/documents?limit=20")
P
ws-mock --log off --journal-file "$work/journal" exec --trace "$work/trace" -- python3 "$work/client.py" >/dev/null
python3 - "$work/trace" "$work/journal" <<'P'
import http.client, json, os, random, subprocess, sys, time, urllib.parse
trace, journal = sys.argv[1:]
print(f"  trace of 10,000 requests          {os.path.getsize(trace) / os.path.getsize(journal):9.2f} x the journal")
begin = time.time()
opened = subprocess.Popen(["ws-mock", "open", trace, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
place = urllib.parse.urlsplit(opened.stdout.readline().strip()).netloc

def ask(path):
    begin = time.time()
    server = http.client.HTTPConnection(place)
    server.request("GET", path)
    answer = json.loads(server.getresponse().read())
    return answer, (time.time() - begin) * 1000

ask("/_trace")
print(f"  opened, with its list             {(time.time() - begin) * 1000:9.0f} ms")
chance = random.Random(1)
for name, pause in ("jumps right after that", 0), ("jumps 5 s later", 5):
    time.sleep(pause)
    took = []
    for _ in range(100):
        moment, ms = ask(f"/_trace/{chance.randint(1, 10000)}")
        assert moment["same"], moment["n"]
        took.append(ms)
    print(f"  {name:<33} {sorted(took)[50]:9.0f} ms, the longest {max(took):.0f} ms")
opened.terminate()
P
