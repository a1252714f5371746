#!/usr/bin/env python3
"""Random stories of people, trees and a service, played with the real programs and judged from outside.

usage: run.py [--stories N] [--seed S] [--jobs J] [--bin DIR] [--seconds T] [--failures DIR] [-v]

Story number i has the seed S + i; `--stories 1 --seed X` plays that of a report again. A failing story is shrunk and
printed as a shell script; `--failures` keeps the scripts. Ends with 1 if a law was broken. README.md has the laws.
"""
import argparse
import multiprocessing
import os
import re
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from shrink import shrink  # noqa: E402
from story import make, play, script, steady  # noqa: E402


def known():
    """(law, expression) of what is known to be broken now: a line each of known.txt, with a tab between."""
    lines = (Path(__file__).resolve().parent / "known.txt").read_text().splitlines()
    return [tuple(line.split("\t", 1)) for line in lines if line and not line.startswith("#")]


def is_known(outcome):
    return any(law == outcome.law and re.search(pattern, outcome.what) for law, pattern in known())


def told(task):
    story, programs, shrinking = task
    begin = sum(os.times()[:4])
    outcome = play(story, programs)
    outcome.cpu_seconds = sum(os.times()[:4]) - begin
    if outcome.law and shrinking and not is_known(outcome):
        met = outcome.met
        outcome = shrink(outcome, programs, shrinking)
        outcome.met = met
    return outcome


def table(met):
    """What the stories met, with how often."""
    rows = []
    for kind, title in (("action ", "actions"), ("`ws", "commands and how they ended"), ("", "what else was met")):
        chosen = {name: met[name] for name in met if name.startswith(kind) and not name.startswith("then ")}
        for name in chosen:
            del met[name]
        rows += ["", title] + ["%8d  %s" % (many, name.removeprefix("action ")) for name, many in sorted(chosen.items())]
    pairs = {name for name in met if name.startswith("then ")}
    return "\n".join(rows + ["", "%d pairs of actions in a row" % len(pairs)])


def main():
    words = argparse.ArgumentParser(usage=__doc__)
    words.add_argument("--stories", type=int, default=60)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--jobs", type=int, default=os.cpu_count())
    words.add_argument("--bin", type=Path, default=Path(os.environ.get("WS_BIN_DIR", "build/dev/bin")))
    words.add_argument("--seconds", type=float, default=0, help="begin no story after so long; 0: no bound")
    words.add_argument("--shrink", type=float, default=60, help="seconds for making one failing story short")
    words.add_argument("--steady", action="store_true", help="each episode once, and each case: the same each time")
    words.add_argument("--short", action="store_true", help="with --steady: a part of the cases, for CI")
    words.add_argument("--only", default="", help="with --steady: only cases whose name has this")
    words.add_argument("--failures", type=Path)
    words.add_argument("-v", "--verbose", action="store_true", help="a line for each story, on stderr")
    given = words.parse_args()
    programs, begin, met, broken, played = given.bin.resolve(), time.monotonic(), Counter(), [], Counter()
    seeds = range(given.seed, given.seed + given.stories)
    stories = (story for seed in seeds for story in (steady(seed, given.short) if given.steady else [make(seed)])
               if not given.only or given.only in story.steps[0].name)
    tasks = ((story, programs, given.shrink) for story in stories
             if not given.seconds or time.monotonic() - begin < given.seconds)
    with multiprocessing.Pool(given.jobs) as pool:
        for outcome in pool.imap_unordered(told, tasks) if not given.seconds else in_time(pool, tasks, given.jobs):
            played[is_known(outcome)] += 1
            met += outcome.met
            if given.verbose:
                print("%6.0f s, %.2f of a core  seed %d, %s: %s" % (time.monotonic() - begin, outcome.cpu_seconds, outcome.story.seed, outcome.story.steps[0].name if outcome.story.steps else "",
                                               (outcome.law + ": " + outcome.what)[:300] if outcome.law else "holds"),
                      file=sys.stderr, flush=True)
            if given.failures and outcome.law:
                given.failures.mkdir(parents=True, exist_ok=True)
                (given.failures / ("%d.sh" % outcome.story.seed)).write_text(script(outcome))
            if is_known(outcome):
                print("seed %d breaks what is known: %s" % (outcome.story.seed, outcome.law), flush=True)
            elif outcome.law:
                broken.append(outcome)
                print("---- seed %d breaks: %s\n%s" % (outcome.story.seed, outcome.law, script(outcome)), flush=True)
    print(table(met))
    print("\n%d stories in %.0f s, %d break a law, %d more what is known"
          % (sum(played.values()), time.monotonic() - begin, len(broken), played[True]))
    for law, many in Counter(outcome.law for outcome in broken).most_common():
        print("%8d  %s" % (many, law))
    sys.exit(1 if broken or not played else 0)


def in_time(pool, tasks, jobs):
    """As `imap_unordered`, but a story is only taken when somebody can begin it."""
    waiting = []
    for task in tasks:
        waiting.append(pool.apply_async(told, (task,)))
        while len(waiting) >= jobs:
            ready = [one for one in waiting if one.ready()]
            for one in ready:
                waiting.remove(one)
                yield one.get()
            if not ready:
                time.sleep(0.02)
    for one in waiting:
        yield one.get()


if __name__ == "__main__":
    main()
