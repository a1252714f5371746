#!/bin/sh
# Without a key of the caller's: run again after it failed, `ws` goes on from what the first run left.
exec ws docs create Tides -F content='High water at six.'
