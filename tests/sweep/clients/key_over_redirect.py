# Planted: follows a redirect to another origin, with the key.
import os, sys, urllib.error, urllib.request

request = urllib.request.Request(os.environ["WS_BASE_URL"] + "/v1/me")
request.add_header("Authorization", "Bearer " + os.environ["WS_TOKEN"])
try:
    urllib.request.urlopen(request, timeout=5).read()
except OSError:
    sys.exit(1)
