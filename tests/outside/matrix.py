"""The rows of `docs/deciding.md`, all in one run: each in a folder of its own, so that none may touch another.

A cell says what lies in its folder, what two people do there, and the one outcome: bytes, documents, rows of the report.
`there` syncs first, `here` second. The same cells are then played by steps, cut, taken back, with lost state.
"""
CELLS = {}  # name -> (function, has a conflict)


def cell(function):
    CELLS[function.__name__] = (function, False)
    return function


def conflict(function):
    CELLS[function.__name__] = (function, True)
    return function


class Cell:
    """One row in one folder. Paths in it are short: `a` is a note, `p` a picture; `shape` says how their names look."""

    def __init__(self, desk, name, shape):
        self.desk, self.name, self.shape, self.folder = desk, name, shape, "%s%d" % (name, shape)
        self.base, self.there, self.here, self.after, self.same = {}, [], [], {}, {}
        self.kind = None  # of its conflict

    # Names and texts.

    def path(self, short):
        """`a` a note, `p`, `q` pictures, `a/x` a note in a folder that has the name of the note `a`."""
        if "/" in short:
            outer, inner = short.split("/")
            return "%s/%s.md" % (self.path(outer), inner)
        inside = ["%s", "s t/\u00fc%s", "deep/er/%s"][self.shape]
        return "%s/%s%s" % (self.folder, inside % short, ".png" if short[0] in "pqrP" else ".md")

    def text(self, links=""):
        head = "---\ntitle: x\ntags: [a, b]\n---\n" if self.shape == 1 else ""
        return head.encode() + self.desk.text(links=[links] if links else ())

    def head(self, text):
        """An edit of the first line of its own; `tail`: of the last. They do not touch."""
        return self.line(text, 0)

    def tail(self, text):
        return self.line(text, -1)

    def line(self, text, which):
        lines = text.decode().split("\n")
        at = [number for number, line in enumerate(lines) if line.startswith("w")][which]
        lines[at] = lines[at].replace("stone", "queen" if which == 0 else "steel")  # of one length
        return "\n".join(lines).encode()

    # What lies there, and what is done.

    def start(self, short, content=None):
        self.base[short] = self.text() if content is None else content
        self.after[short] = self.base[short]
        return self.base[short]

    def ends(self, short, content, of=None):
        """At the end `short` has these bytes; it is the document that was `of`, a new one if that is empty."""
        self.after[short] = content
        self.same[short] = of

    def gone(self, *shorts):
        for short in shorts:
            self.after.pop(short, None)

    def rows(self, words):
        """`push_move b<a` as the report has it."""
        found = []
        for word in words.split(", ") if words else ():
            action, _, names = word.partition(" ")
            short, _, previous = names.partition("<")
            found.append((action, self.path(short), self.path(previous) if previous else ""))
        return found

    def do(self, tree, deeds):
        for deed in deeds:
            kind, short = deed[0], deed[1]
            if kind == "put":
                tree.put(self.path(short), deed[2])
            elif kind == "remove":
                tree.remove(self.path(short))
            else:
                tree.rename(self.path(short), self.path(deed[2]))

    def files(self, table):
        return {self.path(short): content for short, content in table.items()}


# One side alone.

@cell
def edited_there(c):
    text = c.start("a")
    c.there = [("put", "a", c.head(text))]
    c.ends("a", c.head(text), "a")


@cell
def edited_here(c):
    text = c.start("a")
    c.here = [("put", "a", c.head(text))]
    c.ends("a", c.head(text), "a")


@cell
def deleted_there(c):
    c.start("a")
    c.there = [("remove", "a")]
    c.gone("a")


@cell
def deleted_here(c):
    c.start("a")
    c.here = [("remove", "a")]
    c.gone("a")


@cell
def renamed_there(c):
    text = c.start("a")
    c.there = [("rename", "a", "b")]
    c.gone("a")
    c.ends("b", text, "a")


@cell
def renamed_here(c):
    text = c.start("a")
    c.here = [("rename", "a", "b")]
    c.gone("a")
    c.ends("b", text, "a")


@cell
def renamed_and_edited_there(c):
    text = c.start("a")
    c.there = [("rename", "a", "b"), ("put", "b", c.head(text))]
    c.gone("a")
    c.ends("b", c.head(text), "a")


@cell
def renamed_and_edited_here(c):
    text = c.start("a")
    c.here = [("rename", "a", "b"), ("put", "b", c.head(text))]
    c.gone("a")
    c.ends("b", c.head(text), "a")


@cell
def created_there(c):
    text = c.text()
    c.there = [("put", "a", text)]
    c.ends("a", text)


@cell
def created_here(c):
    text = c.text()
    c.here = [("put", "a", text)]
    c.ends("a", text)


@cell
def folder_there(c):
    c.start("a")
    inner = c.text()
    c.there = [("remove", "a"), ("put", "a/i", inner)]
    c.gone("a")
    c.ends("a/i", inner)


@cell
def folder_here(c):
    c.start("a")
    inner = c.text()
    c.here = [("remove", "a"), ("put", "a/i", inner)]
    c.gone("a")
    c.ends("a/i", inner)


@cell
def swapped_there(c):
    one, other = c.start("a"), c.start("b")
    c.there = [("rename", "a", "z"), ("rename", "b", "a"), ("rename", "z", "b")]
    c.ends("a", other, "b")
    c.ends("b", one, "a")


@cell
def swapped_here(c):
    one, other = c.start("a"), c.start("b")
    c.here = [("rename", "a", "z"), ("rename", "b", "a"), ("rename", "z", "b")]
    c.ends("a", other, "b")
    c.ends("b", one, "a")


@cell
def other_case_there(c):
    text = c.start("a")
    c.there = [("rename", "a", "A")]
    c.gone("a")
    c.ends("A", text, "a")


@cell
def other_case_here(c):
    text = c.start("a")
    c.here = [("rename", "a", "A"), ("put", "A", c.tail(text))]
    c.gone("a")
    c.ends("A", c.tail(text), "a")


@cell
def took_the_name_of_a_deleted_one_here(c):
    c.start("a")
    text = c.start("b")
    c.here = [("remove", "a"), ("rename", "b", "a")]
    c.gone("b")
    c.ends("a", text, "b")


@cell
def took_the_name_of_a_deleted_one_there(c):
    c.start("a")
    text = c.start("b")
    c.there = [("remove", "a"), ("rename", "b", "a")]
    c.gone("b")
    c.ends("a", text, "b")


@cell
def emptied_here(c):
    c.start("a")
    c.here = [("put", "a", b"")]
    c.ends("a", b"", "a")


@cell
def untouched(c):
    c.start("a")
    c.start("b")


# Both sides.

@cell
def edited_alike(c):
    text = c.start("a")
    c.there = c.here = [("put", "a", c.head(text))]
    c.ends("a", c.head(text), "a")


@cell
def edited_both(c):
    text = c.start("a")
    c.there = [("put", "a", c.head(text))]
    c.here = [("put", "a", c.tail(text))]
    c.ends("a", c.head(c.tail(text)), "a")


@cell
def edited_here_renamed_there(c):
    text = c.start("a")
    c.there = [("rename", "a", "b")]
    c.here = [("put", "a", c.tail(text))]
    c.gone("a")
    c.ends("b", c.tail(text), "a")


@cell
def renamed_here_edited_there(c):
    text = c.start("a")
    c.there = [("put", "a", c.head(text))]
    c.here = [("rename", "a", "b")]
    c.gone("a")
    c.ends("b", c.head(text), "a")


@cell
def renamed_here_both_edited(c):
    text = c.start("a")
    c.there = [("put", "a", c.head(text))]
    c.here = [("rename", "a", "b"), ("put", "b", c.tail(text))]
    c.gone("a")
    c.ends("b", c.head(c.tail(text)), "a")


@cell
def deleted_here_edited_there(c):
    text = c.start("a")
    c.there = [("put", "a", c.head(text))]
    c.here = [("remove", "a")]
    c.ends("a", c.head(text), "a")


@cell
def deleted_here_renamed_there(c):
    text = c.start("a")
    c.there = [("rename", "a", "b")]
    c.here = [("remove", "a")]
    c.gone("a")
    c.ends("b", text, "a")


@cell
def deleted_both(c):
    c.start("a")
    c.there = c.here = [("remove", "a")]
    c.gone("a")


@cell
def deleted_here_folder_there(c):
    c.start("a")
    inner = c.text()
    c.there = [("remove", "a"), ("put", "a/i", inner)]
    c.here = [("remove", "a")]
    c.gone("a")
    c.ends("a/i", inner)


@cell
def renamed_here_deleted_there(c):
    text = c.start("a")
    c.there = [("remove", "a")]
    c.here = [("rename", "a", "b")]
    c.gone("a")
    c.ends("b", text)


@cell
def renamed_alike(c):
    text = c.start("a")
    c.there = c.here = [("rename", "a", "b")]
    c.gone("a")
    c.ends("b", text, "a")


@cell
def renamed_alike_edited_there(c):
    text = c.start("a")
    c.there = [("rename", "a", "b"), ("put", "b", c.head(text))]
    c.here = [("rename", "a", "b")]
    c.gone("a")
    c.ends("b", c.head(text), "a")


@cell
def renamed_alike_edited_both(c):
    text = c.start("a")
    c.there = [("rename", "a", "b"), ("put", "b", c.head(text))]
    c.here = [("rename", "a", "b"), ("put", "b", c.tail(text))]
    c.gone("a")
    c.ends("b", c.head(c.tail(text)), "a")


@cell
def created_alike(c):
    text = c.text()
    c.there = c.here = [("put", "a", text)]
    c.ends("a", text)


@cell
def folder_here_deleted_there(c):
    c.start("a")
    inner = c.text()
    c.there = [("remove", "a")]
    c.here = [("remove", "a"), ("put", "a/i", inner)]
    c.gone("a")
    c.ends("a/i", inner)


@cell
def folder_here_renamed_there(c):
    text = c.start("a")
    inner = c.text()
    c.there = [("rename", "a", "b")]
    c.here = [("remove", "a"), ("put", "a/i", inner)]
    c.gone("a")
    c.ends("b", text, "a")
    c.ends("a/i", inner)


@cell
def folder_both(c):
    c.start("a")
    one, other, same = c.text(), c.text(), c.text()
    c.there = [("remove", "a"), ("put", "a/i", one), ("put", "a/s", same)]
    c.here = [("remove", "a"), ("put", "a/o", other), ("put", "a/s", same)]
    c.gone("a")
    for short, text in (("a/i", one), ("a/o", other), ("a/s", same)):
        c.ends(short, text)


@cell
def folder_goes_here_file_edited_there(c):
    """Of a folder that is deleted here the rest goes, and the file that was edited there stays."""
    one = c.start("d/a")
    c.start("d/b")
    c.there = [("put", "d/a", c.head(one))]
    c.here = [("remove", "d/a"), ("remove", "d/b")]
    c.gone("d/b")
    c.ends("d/a", c.head(one), "d/a")


@cell
def folder_goes_there_file_new_here(c):
    c.start("d/a")
    new = c.text()
    c.there = [("remove", "d/a")]
    c.here = [("put", "d/n", new)]
    c.gone("d/a")
    c.ends("d/n", new)


# Pictures. `a` shows them.

def show(c, *shorts):
    pictures = {short: c.start(short, c.desk.picture()) for short in shorts}
    return pictures, c.start("a", c.text("".join("![x](%s) " % link(c, short) for short in shorts).rstrip()))


def link(c, short):
    return c.path(short).rsplit("/", 1)[1]


@cell
def picture_replaced_there(c):
    show(c, "p", "q")
    new = c.desk.picture()
    c.there = [("put", "p", new)]
    c.ends("p", new)


@cell
def picture_replaced_here(c):
    show(c, "p", "q")
    new = c.desk.picture()
    c.here = [("put", "p", new)]
    c.ends("p", new)


@cell
def picture_deleted_there(c):
    show(c, "p", "q")
    c.there = [("remove", "p")]
    c.gone("p")


@cell
def picture_deleted_here(c):
    show(c, "p", "q")
    c.here = [("remove", "p")]
    c.gone("p")


@cell
def picture_renamed_there(c):
    pictures, text = show(c, "p", "q")
    c.there = [("rename", "p", "r"), ("put", "a", text.replace(link(c, "p").encode(), link(c, "r").encode()))]
    c.gone("p")
    c.ends("r", pictures["p"])
    c.ends("a", c.there[1][2], "a")


@cell
def picture_renamed_here(c):
    pictures, text = show(c, "p", "q")
    c.here = [("rename", "p", "r"), ("put", "a", text.replace(link(c, "p").encode(), link(c, "r").encode()))]
    c.gone("p")
    c.ends("r", pictures["p"])
    c.ends("a", c.here[1][2], "a")


@cell
def picture_new_there(c):
    text, new = c.start("a"), c.desk.picture()
    c.there = [("put", "p", new), ("put", "a", text + b"![x](%s)\n" % link(c, "p").encode())]
    c.ends("p", new)
    c.ends("a", c.there[1][2], "a")


@cell
def picture_new_here(c):
    text, new = c.start("a"), c.desk.picture()
    c.here = [("put", "p", new), ("put", "a", text + b"![x](%s)\n" % link(c, "p").encode())]
    c.ends("p", new)
    c.ends("a", c.here[1][2], "a")


@cell
def picture_replaced_alike(c):
    show(c, "p", "q")
    new = c.desk.picture()
    c.there = c.here = [("put", "p", new)]
    c.ends("p", new)


@cell
def picture_deleted_both(c):
    show(c, "p", "q")
    c.there = c.here = [("remove", "p")]
    c.gone("p")


@cell
def picture_deleted_here_replaced_there(c):
    show(c, "p", "q")
    new = c.desk.picture()
    c.there = [("put", "p", new)]
    c.here = [("remove", "p")]
    c.ends("p", new)


@cell
def pictures_swapped_here(c):
    pictures, _ = show(c, "p", "q")
    c.here = [("rename", "p", "r"), ("rename", "q", "p"), ("rename", "r", "q")]
    c.ends("p", pictures["q"])
    c.ends("q", pictures["p"])


@cell
def picture_of_other_case_here(c):
    pictures, text = show(c, "p", "q")
    c.here = [("rename", "p", "P")]
    c.gone("p")
    c.ends("P", pictures["p"])


@cell
def note_here_picture_there(c):
    """An edit of the note here, of its picture there: neither waits for the other."""
    _, text = show(c, "p", "q")
    new = c.desk.picture()
    c.there = [("put", "p", new)]
    c.here = [("put", "a", c.tail(text))]
    c.ends("p", new)
    c.ends("a", c.tail(text), "a")


@cell
def edited_here_folder_there(c):
    """The local text lies beside, as a new document."""
    text = c.start("a")
    inner = c.text()
    c.there = [("remove", "a"), ("put", "a/i", inner)]
    c.here = [("put", "a", c.tail(text))]
    c.gone("a")
    c.ends("a/i", inner)
    c.ends("a (local)", c.tail(text))


@cell
def folder_renamed_here_edited_there(c):
    """Each document of a folder that is renamed moves; one was edited there, one is new there, one was deleted there."""
    one, other, third = c.start("d/a"), c.start("d/b"), c.start("d/c")
    new = c.text()
    c.there = [("put", "d/a", c.head(one)), ("remove", "d/c")]
    c.here = [("rename", "d/a", "e/a"), ("rename", "d/b", "e/b"), ("remove", "d/c")]
    c.gone("d/a", "d/b", "d/c")
    c.ends("e/a", c.head(one), "d/a")
    c.ends("e/b", other, "d/b")


@cell
def folder_renamed_alike(c):
    one, other = c.start("d/a"), c.start("d/b")
    c.there = [("rename", "d/a", "e/a"), ("rename", "d/b", "e/b"), ("put", "e/b", c.head(other))]
    c.here = [("rename", "d/a", "e/a"), ("rename", "d/b", "e/b"), ("put", "e/a", c.tail(one))]
    c.gone("d/a", "d/b")
    c.ends("e/a", c.tail(one), "d/a")
    c.ends("e/b", c.head(other), "d/b")


@cell
def another_there(c):
    """Moved away there, and another note takes its place there."""
    text, new = c.start("a"), c.text()
    c.there = [("rename", "a", "z"), ("put", "a", new)]
    c.ends("z", text, "a")
    c.ends("a", new)


@cell
def edited_here_another_there(c):
    text, new = c.start("a"), c.text()
    c.there = [("rename", "a", "z"), ("put", "a", new)]
    c.here = [("put", "a", c.tail(text))]
    c.ends("z", c.tail(text), "a")
    c.ends("a", new)


@cell
def ring_here_edited_there(c):
    one, other, third = c.start("a"), c.start("b"), c.start("e")
    c.there = [("put", "a", c.head(one)), ("put", "e", c.tail(third))]
    c.here = [("rename", "a", "z"), ("rename", "e", "a"), ("rename", "b", "e"), ("rename", "z", "b")]
    c.ends("b", c.head(one), "a")
    c.ends("a", c.tail(third), "e")
    c.ends("e", other, "b")


@cell
def picture_renamed_here_replaced_there(c):
    pictures, text = show(c, "p", "q")
    new = c.desk.picture()
    c.there = [("put", "p", new)]
    c.here = [("rename", "p", "r"), ("put", "a", text.replace(link(c, "p").encode(), link(c, "r").encode()))]
    c.gone("p")
    c.ends("r", new)
    c.ends("a", c.here[1][2], "a")


@cell
def picture_renamed_there_replaced_here(c):
    pictures, text = show(c, "p", "q")
    new = c.desk.picture()
    c.there = [("rename", "p", "r"), ("put", "a", text.replace(link(c, "p").encode(), link(c, "r").encode()))]
    c.here = [("put", "p", new)]
    c.gone("p")
    c.ends("r", new)
    c.ends("a", c.there[1][2], "a")


@cell
def picture_deleted_here_renamed_there(c):
    pictures, text = show(c, "p", "q")
    c.there = [("rename", "p", "r"), ("put", "a", text.replace(link(c, "p").encode(), link(c, "r").encode()))]
    c.here = [("remove", "p")]
    c.gone("p")
    c.ends("r", pictures["p"])
    c.ends("a", c.there[1][2], "a")


@cell
def picture_twice_here(c):
    """The same bytes under two names: uploaded once at most, and one of them replaced."""
    pictures, text = show(c, "p", "q")
    c.here = [("put", "r", pictures["p"]), ("put", "q", pictures["p"]), ("put", "a", text + b"![x](%s)\n" % link(c, "r").encode())]
    c.ends("r", pictures["p"])
    c.ends("q", pictures["p"])
    c.ends("a", c.here[2][2], "a")


@cell
def last_link_goes_here(c):
    """A picture that no note shows any more stays where it is, on both sides."""
    pictures, text = show(c, "p", "q")
    c.here = [("put", "a", text.replace(b"![x](%s)" % link(c, "p").encode(), b"none"))]
    c.ends("a", c.here[0][2], "a")


@cell
def note_and_pictures_deleted_here(c):
    show(c, "p", "q")
    c.here = [("remove", "a"), ("remove", "p"), ("remove", "q")]
    c.gone("a", "p", "q")


# What collides.

@conflict
def x_edited_both(c):
    text = c.start("a")
    c.there = [("put", "a", c.head(text))]
    c.here = [("put", "a", c.head(text).replace(b"queen", b"stole"))]
    c.kind = "revision"


@conflict
def x_edited_here_deleted_there(c):
    text = c.start("a")
    c.there = [("remove", "a")]
    c.here = [("put", "a", c.head(text))]
    c.kind = "edit_delete"


@conflict
def x_renamed_both(c):
    c.start("a")
    c.there = [("rename", "a", "b")]
    c.here = [("rename", "a", "e")]
    c.kind = "path"


@conflict
def x_created_both(c):
    c.there = [("put", "a", c.text())]
    c.here = [("put", "a", c.text())]
    c.kind = "hash"


@conflict
def x_renamed_onto_a_new_one(c):
    c.start("a")
    c.there = [("put", "b", c.text())]
    c.here = [("rename", "a", "b")]
    c.kind = "path"


@conflict
def x_created_where_one_was_moved(c):
    c.start("a")
    c.there = [("rename", "a", "b")]
    c.here = [("put", "b", c.text())]
    c.kind = "path"


@conflict
def x_picture_replaced_both(c):
    show(c, "p", "q")
    c.there = [("put", "p", c.desk.picture())]
    c.here = [("put", "p", c.desk.picture())]
    c.kind = "attachment"


@conflict
def x_picture_created_both(c):
    text = c.start("a")
    for deeds in (c.there, c.here):
        deeds += [("put", "p", c.desk.picture()), ("put", "a", text + b"![x](%s)\n" % link(c, "p").encode())]
    c.kind = "attachment"


@conflict
def x_folder_here_edited_there(c):
    text = c.start("a")
    c.there = [("put", "a", c.head(text))]
    c.here = [("remove", "a"), ("put", "a/i", c.text())]
    c.kind = "revision"


@conflict
def x_renamed_here_folder_there(c):
    c.start("a")
    c.there = [("remove", "a"), ("put", "a/i", c.text())]
    c.here = [("rename", "a", "b")]
    c.kind = "path"


@conflict
def x_created_where_a_folder_is(c):
    c.there = [("put", "a/i", c.text())]
    c.here = [("put", "a", c.text())]
    c.kind = "path"


@conflict
def x_renamed_here_and_edited_deleted_there(c):
    text = c.start("a")
    c.there = [("remove", "a")]
    c.here = [("rename", "a", "b"), ("put", "b", c.head(text))]
    c.kind = "edit_delete"


@conflict
def x_picture_edited_here_deleted_there(c):
    show(c, "p", "q")
    c.there = [("remove", "p")]
    c.here = [("put", "p", c.desk.picture())]
    c.kind = "attachment"


# What a run tells: of `there`, which syncs first, and of `here`, which syncs second. "=": as there, received.
ROWS = {
    "edited_there": "push_update a | =",
    "edited_here": " | push_update a",
    "deleted_there": "push_delete a | =",
    "deleted_here": " | push_delete a",
    "renamed_there": "push_move b<a | =",
    "renamed_here": " | push_move b<a",
    "renamed_and_edited_there": "push_move b<a, push_update b | =",
    "renamed_and_edited_here": " | push_move b<a, push_update b",
    "created_there": "push_create a | =",
    "created_here": " | push_create a",
    "folder_there": "push_create a/i, push_delete a | =",
    "folder_here": " | push_create a/i, push_delete a",
    "swapped_there": "push_move a<b, push_move b<a | =",
    "swapped_here": " | push_move a<b, push_move b<a",
    "other_case_there": "push_move A<a | =",
    "other_case_here": " | push_move A<a, push_update A",
    "took_the_name_of_a_deleted_one_here": " | push_delete a, push_move a<b",
    "took_the_name_of_a_deleted_one_there": "push_delete a, push_move a<b | =",
    "emptied_here": " | push_update a",
    "untouched": "",
    "edited_alike": "push_update a | ",
    "edited_both": "push_update a | merge a",
    "edited_here_renamed_there": "push_move b<a | pull_move b<a, push_update b",
    "renamed_here_edited_there": "push_update a | pull_update b, push_move b<a",
    "renamed_here_both_edited": "push_update a | merge b, push_move b<a",
    "deleted_here_edited_there": "push_update a | pull_create a",
    "deleted_here_renamed_there": "push_move b<a | pull_create b",
    "deleted_both": "push_delete a | ",
    "deleted_here_folder_there": "push_create a/i, push_delete a | pull_create a/i",
    "renamed_here_deleted_there": "push_delete a | push_create b",
    "renamed_alike": "push_move b<a | ",
    "renamed_alike_edited_there": "push_move b<a, push_update b | pull_update b",
    "renamed_alike_edited_both": "push_move b<a, push_update b | merge b",
    "created_alike": "push_create a | adopt a",
    "folder_here_deleted_there": "push_delete a | push_create a/i",
    "folder_here_renamed_there": "push_move b<a | pull_create b, push_create a/i",
    "folder_both": "push_create a/i, push_create a/s, push_delete a | adopt a/s, pull_create a/i, push_create a/o",
    "folder_goes_here_file_edited_there": "push_update d/a | pull_create d/a, push_delete d/b",
    "folder_goes_there_file_new_here": "push_delete d/a | pull_delete d/a, push_create d/n",
    "picture_replaced_there": "push_update p | =",
    "picture_replaced_here": " | push_update p",
    "picture_deleted_there": "push_delete p | =",
    "picture_deleted_here": " | push_delete p",
    "picture_renamed_there": "push_move r<p, push_update a | =",
    "picture_renamed_here": " | push_move r<p, push_update a",
    "picture_new_there": "push_create p, push_update a | =",
    "picture_new_here": " | push_create p, push_update a",
    "picture_replaced_alike": "push_update p | ",
    "picture_deleted_both": "push_delete p | ",
    "picture_deleted_here_replaced_there": "push_update p | pull_create p",
    "pictures_swapped_here": " | push_update p, push_update q",
    "picture_of_other_case_here": " | push_move P<p",
    "note_here_picture_there": "push_update p | pull_update p, push_update a",
    "edited_here_folder_there": "push_create a/i, push_delete a | pull_create a/i, push_create a (local)<a",
    "folder_renamed_here_edited_there": "push_delete d/c, push_update d/a | pull_update e/a, push_move e/a<d/a, push_move e/b<d/b",
    "folder_renamed_alike": "push_move e/a<d/a, push_move e/b<d/b, push_update e/b | pull_update e/b, push_update e/a",
    "another_there": "push_create a, push_move z<a | =",
    "edited_here_another_there": "push_create a, push_move z<a | pull_create a, pull_move z<a, push_update z",
    "ring_here_edited_there": "push_update a, push_update e | pull_update a, pull_update b, push_move a<e, push_move b<a, push_move e<b",
    "picture_renamed_here_replaced_there": "push_update p | pull_update r, push_move r<p, push_update a",
    "picture_renamed_there_replaced_here": "push_move r<p, push_update a | pull_move r<p, pull_update a, push_update r",
    "picture_deleted_here_renamed_there": "push_move r<p, push_update a | pull_create r, pull_update a",
    "picture_twice_here": " | push_create r, push_update a, push_update q",
    "last_link_goes_here": " | push_update a",
    "note_and_pictures_deleted_here": " | push_delete a, push_delete p, push_delete q",
    "x_folder_here_edited_there": "push_update a | conflict a",
    "x_renamed_here_folder_there": "push_create a/i, push_delete a | conflict b",
    "x_created_where_a_folder_is": "push_create a/i | conflict a",
    "x_renamed_here_and_edited_deleted_there": "push_delete a | conflict b",
    "x_picture_edited_here_deleted_there": "push_delete p | conflict p",
    "x_edited_both": "push_update a | conflict a",
    "x_edited_here_deleted_there": "push_delete a | conflict a",
    "x_renamed_both": "push_move b<a | conflict e",
    "x_created_both": "push_create a | conflict a",
    "x_renamed_onto_a_new_one": "push_create b | conflict b",
    "x_created_where_one_was_moved": "push_move b<a | conflict b",
    "x_picture_replaced_both": "push_update p | conflict p",
    "x_picture_created_both": "push_create p, push_update a | conflict p",
}


def received(rows):
    """What a tree is told that receives what another has sent."""
    return [("pull_update" if action == "merge" else "pull" + action[4:], path, previous if action == "push_move" else "")
            for action, path, previous in rows if action.startswith("push") or action == "merge"]


def build(desk, conflicts, shapes=(0, 1)):
    cells = []
    for name, (make, collides) in CELLS.items():
        for shape in shapes if collides == conflicts else ():
            one = Cell(desk, name, shape)
            make(one)
            there, _, here = ROWS[name].partition(" | ")
            one.rows_there = one.rows(there.strip())
            one.rows_here = received(one.rows_there) if here == "=" else one.rows(here.strip())
            cells.append(one)
    return cells
