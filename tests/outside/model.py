"""What people wrote and what they took away by a deed of their own: all that the judge knows of a story."""
import random
import zlib
from collections import Counter, defaultdict

WORDS = "stone river letter archive branch signal window paper engine market garden harbour lantern meadow".split()
FOLDERS = ["", "", "d1", "d2", "d1/sub", "\u00fcber"]
STEMS = ["a", "b", "c", "note", "Plan", "x y", "caf\u00e9", "in-dex", "zz"]


class Broken(Exception):
    """A law does not hold."""

    def __init__(self, law, what):
        super().__init__("%s: %s" % (law, what))
        self.law, self.what = law, what


class Choice:
    """The choices of one action. What is chosen of several depends on each of them alone, so that a story with fewer
    actions chooses mostly the same."""

    def __init__(self, number, seed):
        self.number, self.seed, self.made, self.random = number, seed, 0, random.Random(seed)

    def of(self, things, key=str):
        self.made += 1
        return min(things, key=lambda thing: zlib.crc32(("%d %d %s" % (self.seed, self.made, key(thing))).encode()), default=None)

    def some(self, things, many):
        left, taken = list(things), []
        while left and len(taken) < many:
            taken.append(self.of(left))
            left.remove(taken[-1])
        return taken

    def chance(self, share):
        return self.random.random() < share

    def between(self, low, high):
        return self.random.randint(low, high)


class Model:
    def __init__(self):
        self.alive = {}                     # word -> where it was written: nobody has taken it away
        self.pictures = {}                  # SHA-256 -> where, likewise
        self.ids = {}                       # first word of a note -> the document that it became
        self.unsure = set()                 # first words of notes whose rename no program could see
        self.written_by_ws = set()          # words of notes whose file `ws` renamed or edited
        self.secrets = defaultdict(dict)    # tree -> SHA-256 -> path: never linked there
        self.appeared = defaultdict(lambda: defaultdict(set))  # tree -> run -> words that came up in it
        self.sent = defaultdict(set)        # (tree, run) -> SHA-256 of files that came up on the service in it
        self.pending = defaultdict(set)     # tree -> words that came up since its last run
        self.threads = Counter()            # document -> comments that were made
        self.met = Counter()
        self.made = 0

    def word(self, where, number, first=False):
        self.made += 1
        word = "%s%dx%d" % ("b" if first else "w", number, self.made)
        self.alive[word] = where
        return word

    def release(self, words):
        for word in words:
            self.alive.pop(word, None)

    def release_picture(self, sha):
        self.pictures.pop(sha, None)
