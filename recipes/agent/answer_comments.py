#!/usr/bin/env python3
"""Answers the comments that mention an agent, with what the Workspace knows. No packages; `ws` on the PATH.

    ws agents create scribe --name Scribe --permissions read,comment --secret-out scribe.key
    ws docs share DOCUMENT --with @scribe --permission comment    # an agent hears of what it can see
    WS_TOKEN=$(cat scribe.key) ws events work --worker scribe -- recipes/agent/answer_comments.py

`ws events work` runs it once for each event, with the event as JSON on stdin. Exit 0 completes the event with the JSON
that is printed here; any other exit fails it, and it is tried again later. An event can therefore come twice: the thread
is looked at before anything is written.
"""
import json
import subprocess
import sys


def ws(*arguments, data=()):
    """The answer of `ws ARGUMENTS --json -- DATA`. Its errors are on stderr already: they end in the event's failure.

    What others wrote comes after `--`, or behind `--flag=`: a comment like `--file=private.txt` is no flag of ours.
    """
    run = subprocess.run(["ws", *arguments, "--json", "--", *data], stdout=subprocess.PIPE, check=False)
    if run.returncode != 0:
        sys.exit(run.returncode)
    return json.loads(run.stdout)


def has_answered(event):
    """Whether this agent wrote in the thread behind the comment."""
    threads = ws("comments", "list", data=[event["document_id"]])["threads"]
    thread = next((each for each in threads if each["id"] == event["thread_id"]), {"entries": []})
    ids = [entry["id"] for entry in thread["entries"]]
    later = thread["entries"][ids.index(event["comment_id"]) + 1 :] if event["comment_id"] in ids else []
    return any(entry["author_agent_id"] == event["agent_id"] for entry in later)


def main():
    event = json.load(sys.stdin)
    if event["kind"] not in ("comment.mention", "comment.reply"):
        return {"skipped": event["kind"]}
    if has_answered(event):
        return {"skipped": "answered before"}
    question = event["payload"]["body"]
    answer = ws("ask", "--timeout", "60", data=[question])["answer"] or "I found nothing about this."
    ws(
        "comments",
        "reply",
        f"--message={answer}",
        "-F",
        f"source_event_id={event['id']}",
        data=[event["document_id"], event["thread_id"]],
    )
    return {"replied_to": event["comment_id"]}


if __name__ == "__main__":
    print(json.dumps(main()))
