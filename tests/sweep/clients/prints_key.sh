#!/bin/sh
# Planted: prints the whole request when it fails.
curl -sf -m 5 -o /dev/null "$WS_BASE_URL/v1/me" -H "Authorization: Bearer $WS_TOKEN" && exit 0
echo "failed: curl -H 'Authorization: Bearer $WS_TOKEN' $WS_BASE_URL/v1/me" >&2
exit 1
