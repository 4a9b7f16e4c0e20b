"""inlay's side, a process that is spoken with by lines; see peer.cpp for what they say."""

import os
import pathlib
import subprocess
import time

import numpy


class PeerError(Exception):
    """What the peer says is wrong."""


class Peer:
    """A running compare_torch_peer, and the folder through which data goes."""

    def __init__(self, program, folder, without):
        """Starts it, without those settings of the environment that are for the others."""
        self.folder = pathlib.Path(folder)
        environment = {name: value for name, value in os.environ.items() if name not in without}
        self._process = subprocess.Popen([str(program)], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True, env=environment)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait()

    def ask(self, *words):
        """Says a line and returns the words of the answer."""
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise PeerError(f"the peer ended at '{' '.join(map(str, words))}'")
        verdict, *rest = answer.split()
        if verdict != "ok":
            raise PeerError(" ".join(rest))
        return rest

    def values(self, what, name, dtype=numpy.float32):
        """What a side of the peer writes: its rows, parameters or logits."""
        self.ask(what, name, self.folder / what)
        return numpy.fromfile(self.folder / what, dtype)

    def read(self, file, dtype):
        """A file that the peer has left in the folder."""
        return numpy.fromfile(self.folder / file, dtype)

    def steps(self, name, first, count):
        """Trains; what that took, in seconds by its kind."""
        words = self.ask("steps", name, first, count)
        return dict(zip(words[::2], map(float, words[1::2])))


def timed(work):
    """What `work` took in this process, in the peer's words."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
