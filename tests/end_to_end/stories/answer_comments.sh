#!/bin/sh
# An agent that answers the comments in which it is mentioned, through the event queue, with the recipe.
# WS_BASE_URL and WS_TOKEN: the server and the key of the agent's owner. RECIPES: the folder of the recipes.
set -eu
echo 'The gate opens at dusk.' | ws docs create Tides -f - > /dev/null
ws agents create scribe --name Scribe --permissions read,comment --secret-out scribe.key > /dev/null
test "$(stat -c %a scribe.key)" = 600
ws docs share Tides --with @scribe --permission comment > /dev/null # no agent hears of a document that it cannot see
ws comments add Tides -m '@scribe when does the gate open?' > /dev/null
agent() { WS_TOKEN=$(cat scribe.key) ws events work --worker scribe --once --wait-seconds 0 "$@"; }
replies() { ws comments list Tides --json --jq '[.threads[].entries[] | select(.author_kind == "agent")] | length'; }

agent -- sh -c 'true' # the share is an event, too

# A failing command leaves the event in the queue: nothing is lost by a worker that cannot do it.
status=0
agent -- sh -c 'echo "no model today" >&2; exit 1' || status=$?
test "$status" = 13
test "$(replies)" = 0
sleep 6 # the service hands a failed event out again after 5 s

agent -- "$RECIPES/agent/answer_comments.py"
test "$(replies)" = 1

# The person asks on; the reply in the thread is an event of its own. A thread is answered once for each comment.
thread=$(ws comments list Tides --json --jq '.threads[0].id')
ws comments reply Tides "$thread" -m 'And when does it close?' > /dev/null
agent -- "$RECIPES/agent/answer_comments.py"
test "$(replies)" = 2

# A comment that reads like a flag is a question all the same, and sends no file.
echo 'not for the service' > private.txt
ws comments reply --message='--file=private.txt' -- Tides "$thread" > /dev/null
agent -- "$RECIPES/agent/answer_comments.py"
test "$(replies)" = 3
test "$(ws files list --json --jq '.data | length')" = 0
agent -- sh -c 'echo "the queue is empty, this is not run" >&2; exit 1'
ws comments resolve Tides "$thread" > /dev/null
