#!/bin/sh
# A CI job: two tests beside each other, each in a world of its own; a fault; what was asked is verified; then the sweep.
# The programs are on the PATH; nothing else is set.
set -eu
ws-mock --ready-file ready.json --exit-with-parent --log off > /dev/null &
while [ ! -s ready.json ]; do sleep 0.05; done
member() { tr ',' '\n' < "$1" | sed -n "s/.*\"$2\": *\"\([^\"]*\)\".*/\1/p"; }
control=$(member ready.json control_url)
mock() { curl -sSf -H 'Content-Type: application/json' "$@"; }

# The program under test: it publishes a file once, however often it is started.
cat > publish.sh << 'END'
exec ws docs create Tides -f tides.md --idempotency-key stable --json --jq .id
END
printf 'High water at six.\n' > tides.md

# A test that the service answers, and one in which the answer to the create is lost.
for test in plain lost; do
  mock -X POST "$control/sandboxes" > "$test.json"
  (
    WS_BASE_URL=$(member "$test.json" base_url) WS_TOKEN=$(member "$test.json" token)
    export WS_BASE_URL WS_TOKEN
    if [ "$test" = lost ]; then
      mock "$WS_BASE_URL/_mock/faults" > /dev/null \
        -d '{"operation": "docs.create", "phase": "after", "times": 1, "effect": {"reset": true}}'
    fi
    sh publish.sh > "$test.out"
    sh publish.sh >> "$test.out"
    test "$(sort -u "$test.out" | wc -l)" = 1 # the same document both times
    test "$(ws docs list --all --template '{title}' | grep -cx Tides)" = 1
    mock "$WS_BASE_URL/_mock/requests:verify" > /dev/null -d '{"match": {"operation": "docs.create", "status": 201, "body": {"title": "Tides"}}}'
  ) &
  jobs="${jobs:-} $!"
done
for job in $jobs; do wait "$job"; done

# Three of the faults that can hit it, as a report for the CI service.
ws-mock sweep --sample 3 --seed 7 --junit sweep.xml -- sh publish.sh > sweep.txt
grep -q '<testsuite' sweep.xml
