"""Makes a failing story short: actions are left out while the same law is still broken."""
import time
from dataclasses import replace

from story import PLAYS, play

TRIES_OF_CHANCE = 3  # where kills are in it, the same story does not end the same each time


def still_broken(story, law, programs):
    by_chance = any((step.name in PLAYS and not story.steady) or step.name.startswith(("killed", "server_killed", "two_at_once", "watch")) for step in story.steps)
    for _ in range(TRIES_OF_CHANCE if by_chance else 1):
        outcome = play(story, programs)
        if outcome.law == law:
            return outcome
    return None


def shrink(outcome, programs, seconds=60):
    """The shortest outcome that was found in that time."""
    best, end = outcome, time.monotonic() + seconds
    size = max(1, len(best.story.steps) // 4)
    while size >= 1:
        place, shorter = len(best.story.steps), False
        while place > 0:
            if time.monotonic() > end:
                return best
            begin = max(0, place - size)
            steps = best.story.steps[:begin] + best.story.steps[place:]
            found = still_broken(replace(best.story, steps=steps), best.law, programs)
            if found:
                best, shorter = found, True
            place = begin
        if size == 1 and not shorter:
            break
        size = size // 2 if size > 1 else 1
    return best
