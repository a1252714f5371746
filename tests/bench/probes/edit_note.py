"""Makes NOTE another text of the same links, and puts the index CACHE of the tree as it was into PLACE."""
import shutil
import sys
import time

note, cache, place = sys.argv[1:]
with open(note, "a") as file:
    file.write("edited\n")
shutil.copyfile(cache, place)
time.sleep(0.05)
