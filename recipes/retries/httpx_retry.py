#!/usr/bin/python3
# httpx with the retries of its transport, which are for connections that could not be made.
import os
import sys

import httpx

client = httpx.Client(
    base_url=os.environ["WS_BASE_URL"],
    headers={"Authorization": "Bearer " + os.environ["WS_TOKEN"]},
    transport=httpx.HTTPTransport(retries=3),
)
try:
    template = client.get(f"/v1/documents/{sys.argv[1]}")
    template.raise_for_status()
    note = {"title": template.json()["title"] + ", week 48", "content": "All is well."}
    made = client.post("/v1/documents", json=note)
    made.raise_for_status()
    print("created", made.json()["id"])
except (httpx.HTTPError, LookupError, TypeError, ValueError) as error:
    sys.exit(f"failed: {error!r}")
