"""Waiting for a machine that others use too, since no ratio is true while they do."""

import pathlib
import time

STATISTICS = pathlib.Path("/proc/stat")
WATCHED = 0.04  # seconds
BUSY = 0.1  # share of the processors' time


def busy_share():
    """What share of all processors' time the machine is busy while this process sleeps."""
    def read():
        ticks = [int(word) for word in STATISTICS.read_text().split("\n", 1)[0].split()[1:9]]
        return sum(ticks), ticks[3] + ticks[4]  # all; idle and waiting for a disk

    all_before, idle_before = read()
    time.sleep(WATCHED)
    all_after, idle_after = read()
    return 1 - (idle_after - idle_before) / max(all_after - all_before, 1)


def rest():
    """Between two sides: until the threads of the one before have gone to sleep."""
    time.sleep(0.01)


class Patience:
    """Waits before a round until the machine is quiet, for so many seconds and no longer."""

    def __init__(self, seconds):
        self._seconds = seconds
        self.rounds = 0
        self.disturbed = 0

    def wait(self):
        """Returns when the machine is quiet, or when it has not been for too long."""
        rest()
        self.rounds += 1
        end = time.monotonic() + self._seconds
        while STATISTICS.exists() and busy_share() > BUSY:
            if time.monotonic() > end:
                self.disturbed += 1
                return
            time.sleep(0.2)

    def words(self):
        """How it went."""
        return f"{self.disturbed} of {self.rounds} rounds began while the machine was in use"
