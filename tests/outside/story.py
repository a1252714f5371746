"""A story: a seed, and the list of actions that is made from it."""
import json
import random
import shutil
import tempfile
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from actions import ACTIONS
from desk import Desk
from episodes import EPISODES
import cases  # noqa: F401  (registers)
import pairs  # noqa: F401
import ways_back  # noqa: F401
from exact import CASES, rows_by_chance
from model import Broken, Choice
from service import PEOPLE, fixtures, key_of
from world import OWNERS, World


@dataclass(frozen=True)
class Step:
    name: str    # of the action
    tree: int
    number: int  # in the story as it was made; words that the action writes have it
    seed: int


@dataclass(frozen=True)
class Story:
    seed: int
    trees: int
    steps: tuple
    steady: bool = False  # nothing that ends by chance: it plays the same each time

    def of_one(self):
        """Whether one person alone writes, and no run was cut: then undo leads to the very beginning."""
        return all(step.tree == 0 and not step.name.startswith("api_") for step in self.steps)


@dataclass
class Outcome:
    story: Story
    law: str = ""        # that does not hold; empty: all hold
    what: str = ""
    script: list = field(default_factory=list)
    met: Counter = field(default_factory=Counter)
    cpu_seconds: float = 0


EPISODES_OF_A_STORY = 10
BY_CHANCE = "rows by chance"
PLAYS = {**EPISODES, **CASES, BY_CHANCE: rows_by_chance}
SHORT = """all_rows 1|conflicts_decided local|rows_by_steps pull push commit|rows_taken_back here|rows_cut upload.put after 1|ladder
border 101 renamed|guard_weighs 12 5 13 6|rule_set_and_removed off|rule_set_and_removed nested|short_notes keep note|merges run
left_out folder take|reset renamed|deleted_restored guard|anothers_key|nested_rules set later|no_wish mv|state_lost all|times_and_modes|one_writer|restored moved|conflict_and note renamed remote|part_fails upload.put"""
SHORT = {"exact " + name for line in SHORT.splitlines() for name in line.split("|")}
BEGINNING = ["note_new", "note_new", "note_new", "note_new", "picture_new", "note_new", "picture_new", "sync_in_turn"]


def make(seed, steady=False):
    """Half are episodes, a quarter rows of the table by chance; most others keep to a part of the actions, so that those
    meet more often.

    A steady one has each episode once, and no kills."""
    dice = random.Random(seed)
    if steady:
        names = sorted(EPISODES)
        return Story(seed, 2, tuple(Step(name, 0, place, dice.getrandbits(32))
                                    for place, name in enumerate(dice.sample(names, len(names)))), True)
    if seed % 4 == 3:
        return Story(seed, 2, (Step(BY_CHANCE, 0, 0, dice.getrandbits(32)),))
    if seed % 4:
        names = dice.sample(sorted(EPISODES), EPISODES_OF_A_STORY)
        return Story(seed, dice.choice([2, 2, 3]), tuple(
            Step(name, 0, place, dice.getrandbits(32)) for place, name in enumerate(names)))
    trees = dice.choice([2, 2, 2, 3, 3, 4])
    names = sorted(ACTIONS)
    rare = dice.random() < 0.7
    favoured = {name for name in names if not rare or dice.random() < 0.4 or ACTIONS[name][0] >= 40}
    weights = [ACTIONS[name][0] if name in favoured else 0 for name in names]
    chosen = BEGINNING + dice.choices(names, weights, k=dice.randint(6, 34))
    alone = seed % 8 == 0
    if alone:
        chosen = [name for name in chosen if not name.startswith("api_")]
    steps = tuple(Step(name, 0 if alone or place < len(BEGINNING) else dice.randrange(trees), place, dice.getrandbits(32))
                  for place, name in enumerate(chosen))
    return Story(seed, trees, steps)


def steady(seed, short):
    """The stories of one steady run: each case by itself, and each episode once; in the short form some of the cases alone."""
    dice = random.Random(seed)
    if not short:
        yield make(seed, steady=True)
    for name in CASES:
        if not short or name in SHORT:
            yield Story(seed, 2, (Step(name, 0, 0, dice.getrandbits(32)),), True)


def play(story, programs):
    """Plays it from an empty world; the world is gone afterwards."""
    scratch = Path(tempfile.mkdtemp(prefix="outside-"))
    world, outcome = None, Outcome(story)
    try:
        world = World(programs, scratch, story.trees)
        if story.steps and story.steps[0].name in PLAYS:
            play_episodes(world, story, outcome)
            return outcome
        before = None
        for step in story.steps:
            tree = world.trees[step.tree]
            world.say("# %d: %s" % (step.number, step.name))
            outcome.met["action " + step.name] += 1
            if before:
                outcome.met["then %s -> %s" % (before.name, step.name)] += 1
            before = step
            ACTIONS[step.name][1](world, tree, Choice(step.number, step.seed))
        world.say("# the quiet end")
        world.quiet_end()
        if story.seed % 4 == 0:
            world.say("# all runs of t0 are taken back")
            world.undo_all(world.trees[0], alone=story.of_one())
            world.quiet_end()
    except Broken as broken:
        outcome.law, outcome.what = broken.law, broken.what
    except Exception:  # the harness itself: shown like a broken law, so that no story is lost in silence
        outcome.law, outcome.what = "harness", traceback.format_exc()
    finally:
        if world:
            outcome.met += world.model.met
            outcome.script = list(world.script)
            world.close()
        shutil.rmtree(scratch, ignore_errors=True)
    return outcome


def play_episodes(world, story, outcome):
    desk = Desk(world, story.steady)
    for step in story.steps:
        world.say("# %d: %s" % (step.number, step.name))
        outcome.met["action " + step.name] += 1
        desk.begin(step)
        PLAYS[step.name](desk)


def script(outcome):
    """The story as a shell script; `ws` and `ws-mock` are taken from BIN."""
    lines = ["#!/bin/bash", "# seed %d: %s" % (outcome.story.seed, outcome.law)]
    lines += ["# " + line for line in outcome.what.splitlines()]
    lines += ["# BIN=DIR bash THIS_SCRIPT: DIR holds ws and ws-mock; a number behind a command is how it ended.",
              "W=$(mktemp -d); cd \"$W\"; echo \"$W\"; mkdir bin; PATH=$W/bin:$PATH; PORT=${PORT:-4799}; U=http://127.0.0.1:$PORT",
              "cat >fixtures.json <<'END'", json.dumps(fixtures()), "END",
              "start_server() { \"$BIN/ws-mock\" serve --listen 127.0.0.1:$PORT --data service.db "
              "$(test -e service.db || echo --fixtures fixtures.json) --seed 1 --log off >/dev/null 2>&1 & SERVER=$!; until curl -s $U/_mock/health >health; do sleep 0.05; done; }",
              "kill_server() { kill -KILL $SERVER; wait $SERVER 2>/dev/null; }",
              "api() { curl -s -X $1 -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' $U$2 -d \"$3\"; echo; }"
              % key_of("tomas"),
              "fault() { curl -s -X POST -H 'Content-Type: application/json' $U/_mock/faults -d \"$1\"; echo; }",
              "no_faults() { curl -s -X DELETE $U/_mock/faults >/dev/null; }",
              "tree() { mkdir -p $2; printf '#!/bin/sh\\ncd %s/%s && exec env HOME=%s/home-%s XDG_CONFIG_HOME= XDG_DATA_HOME= "
              "XDG_STATE_HOME= XDG_CACHE_HOME= WS_BASE_URL=%s WS_TOKEN=\"${WS_TOKEN:-%s}\" WS_NO_INPUT=1 %s/ws \"$@\"\\n' "
              "\"$W\" $2 \"$W\" $2 $U $3 \"$BIN\" >bin/$1; chmod +x bin/$1; }"]
    for number in range(outcome.story.trees):
        person = OWNERS[number]
        lines.append("tree t%d t%d %s; tree t%d_looks t%d %s" % (number, number, key_of(person), number, number,
                                                                key_of(person, True)))
    lines += ["start_server", "trap 'kill -KILL $SERVER' EXIT"]
    return "\n".join(lines + outcome.script) + "\n"
