"""The script survives a sample of the faults: `pytest recipes/sweep/test_sweep.py`, or `python3 -m unittest`."""
import json
import pathlib
import subprocess
import unittest

SCRIPT = str(pathlib.Path(__file__).parent / "publish_notes.sh")


class Sweep(unittest.TestCase):
    def test_no_fault_is_hidden_behind_a_green_exit(self):
        sweep = subprocess.run(
            ["ws-mock", "sweep", "--json", "--sample", "6", "--skip", "timeout-before", "--", SCRIPT],
            capture_output=True, text=True)
        self.assertIn(sweep.returncode, (0, 1), sweep.stderr)
        found = [finding for row in json.loads(sweep.stdout)["rows"] for finding in row["findings"]]
        self.assertEqual([], [one["id"] + ": " + one["sentence"] for one in found])


if __name__ == "__main__":
    unittest.main()
