# Right, and computes for a while on the first processor: where others compute there too, it takes many times longer.
import os, sys, time, urllib.request

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
if os.environ["WS_SWEEP_ROW"] != "clean":
    open(os.environ["BUSY_FROM_NOW"], "w").close()
    time.sleep(0.2)
while time.process_time() < 0.1:
    pass
me = urllib.request.Request(os.environ["WS_BASE_URL"] + "/v1/me")
me.add_header("Authorization", "Bearer " + os.environ["WS_TOKEN"])
try:
    urllib.request.urlopen(me, timeout=60).read()
except OSError as error:
    sys.exit("failed: " + str(error))
