# Planted: the event is completed without a look at the answer, which says when the lease was lost.
import json, os, sys, urllib.error, urllib.request


def call(path, body):
    request = urllib.request.Request(os.environ["WS_BASE_URL"] + path, data=json.dumps(body).encode(), method="POST")
    request.add_header("Authorization", "Bearer " + os.environ["WS_TOKEN"])
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=5) as answer:
        return json.load(answer)


try:
    event = call("/v1/agent-events:claim", {"worker_id": "w"})["event"]
except (OSError, ValueError):
    sys.exit(1)
if event is None:
    sys.exit(0)
try:
    call("/v1/agent-events/%s:complete" % event["id"], {"lease_token": event["lease_token"], "result": {}})
except (OSError, ValueError):
    pass
