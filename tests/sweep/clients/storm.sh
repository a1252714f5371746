#!/bin/sh
# Planted: tries again without an end and without a pause worth the name.
i=0
while [ $i -lt 40 ]; do
  curl -sf -m 5 -o /dev/null "$WS_BASE_URL/v1/me" -H "Authorization: Bearer $WS_TOKEN" && exit 0
  i=$((i + 1))
done
exit 1
