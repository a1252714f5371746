# Planted: what goes wrong is printed, and the exit code stays 0.
import json, os, urllib.request

for title in ("first", "second"):
    request = urllib.request.Request(os.environ["WS_BASE_URL"] + "/v1/documents", method="POST")
    request.add_header("Authorization", "Bearer " + os.environ["WS_TOKEN"])
    request.add_header("Content-Type", "application/json")
    request.add_header("Idempotency-Key", "note-" + title)
    request.data = json.dumps({"title": title, "content": "text"}).encode()
    try:
        urllib.request.urlopen(request, timeout=5).read()
    except Exception as error:
        print("could not write", title, type(error).__name__)
