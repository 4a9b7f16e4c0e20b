#!/usr/bin/env python3
"""Compares simulate_cache with libCacheSim: the same traces, policies and capacities, in one run.

Both read the same file in libCacheSim's own format (oracleGeneral, every object of size one), and
count hits of FIFO, LRU, CLOCK, SIEVE, S3-FIFO, ARC and of Belady's optimum at 1, 5 and 10 % of the
keys. Of simulate_cache the whole process is timed, from its start to its end, with the numbering of
the keys; of libCacheSim only the calls that replay, with caches and reader made before. Both take
turns, and each time is the best of some rounds. libCacheSim's hash table begins with 2^24 places by
default, which is much for traces as short as these: 2^17 is tried as well.

A ratio is libCacheSim's time over that of simulate_cache. The exit status is 1 where hits are apart
by more than 0.002 of the requests, or for S3-FIFO and ARC, whose ghosts are cells, by 3 % of misses.
libCacheSim runs in a virtual environment of this script's own, made at the first call.
"""

import argparse
import array
import csv
import io
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

PACKAGE = "libcachesim==0.3.5"
TRACES = ["scarab_200k", "web12", "corda", "sprite", "two_pools"]
# simulate_cache's name of each policy, libCacheSim's, and how far apart they may be.
POLICIES = [("fifo", "FIFO", "hits"), ("lru", "LRU", "hits"), ("clock", "Clock", "hits"),
            ("sieve", "Sieve", "hits"), ("s3_fifo", "S3FIFO", "misses"), ("arc", "ARC", "misses")]


def options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("INLAY_DATA"),
                        help="folder of trace_*.u32 [INLAY_DATA]")
    parser.add_argument("--program", default="build/host/examples/simulate_cache")
    parser.add_argument("--venv", default="build/libcachesim", help="its virtual environment")
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def inside_venv(venv):
    """Starts this script again in the virtual environment, which is made where it is not there."""
    python = pathlib.Path(venv) / "bin" / "python"
    if pathlib.Path(sys.prefix) == pathlib.Path(venv).resolve():
        return
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", PACKAGE], check=True)
    os.execv(python, [str(python), *sys.argv])


def write_oracle(keys, path):
    """Time, key, size, and where the key comes next; -1 where it does not."""
    coming = {}
    nexts = [0] * len(keys)
    for at in range(len(keys) - 1, -1, -1):
        nexts[at] = coming.get(keys[at], -1)
        coming[keys[at]] = at
    record = struct.Struct("<IQIq")
    with open(path, "wb") as file:
        for at, key in enumerate(keys):
            file.write(record.pack(at, key, 1, nexts[at]))
    return len(coming)


def ours(program, path, capacities):
    command = [program, "--csv", "--trace", path, "--policies", ",".join(p[0] for p in POLICIES),
               "--capacities", ",".join(map(str, capacities))]
    start = time.perf_counter()
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds = time.perf_counter() - start
    hits = {}
    for row in csv.DictReader(io.StringIO(text)):
        hits[row["policy"], int(row["capacity"])] = int(row["hits"])
        hits["belady", int(row["capacity"])] = int(row["belady_hits"])
    return seconds, hits


def theirs(path, capacities, requests, hashpower):
    import libcachesim
    hits = {}
    seconds = 0.0
    names = [(p[0], p[1]) for p in POLICIES] + [("belady", "Belady")]
    for name, policy in names:
        for capacity in capacities:
            reader = libcachesim.TraceReader(path, libcachesim.TraceType.ORACLE_GENERAL_TRACE,
                                             libcachesim.ReaderInitParam(ignore_obj_size=True))
            cache = getattr(libcachesim, policy)(cache_size=capacity, hashpower=hashpower)
            start = time.perf_counter()
            miss_ratio = cache.process_trace(reader)[0]
            seconds += time.perf_counter() - start
            hits[name, capacity] = round((1.0 - miss_ratio) * requests)
    return seconds, hits


def apart(mine, other, requests):
    """Sentences on hits that are too far apart."""
    bounds = {name: what for name, _, what in POLICIES} | {"belady": "hits"}
    for (name, capacity), hits in mine.items():
        peer = other[name, capacity]
        most = 0.002 * requests if bounds[name] == "hits" else 0.03 * (requests - peer)
        if abs(hits - peer) > most:
            yield f"{name} at {capacity} rows: {hits} hits, libCacheSim {peer}"


def main():
    wanted = options()
    if not wanted.data:
        sys.exit("compare_libcachesim: name the folder of the traces: --data, or INLAY_DATA")
    if not pathlib.Path(wanted.program).exists():
        sys.exit(f"compare_libcachesim: {wanted.program} is not there: build simulate_cache, or say"
                 " where it is by --program")
    inside_venv(wanted.venv)
    wrong = []
    print(f"| trace | simulate_cache, ms | libCacheSim, 2^17 places | 2^24 places |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in TRACES:
            keys = array.array("I")
            keys.frombytes((pathlib.Path(wanted.data) / f"trace_{name}.u32").read_bytes())
            path = f"{folder}/{name}.oracleGeneral"
            distinct = write_oracle(keys, path)
            capacities = [distinct * percent // 100 for percent in (1, 5, 10)]
            best = [float("inf")] * 3
            for _ in range(wanted.rounds):
                sides = [ours(wanted.program, path, capacities),
                         theirs(path, capacities, len(keys), 17),
                         theirs(path, capacities, len(keys), 24)]
                best = [min(before, side[0]) for before, side in zip(best, sides)]
            wrong += [f"{name}: {what}" for what in apart(sides[0][1], sides[1][1], len(keys))]
            print(f"| {name} | {1e3 * best[0]:.1f} | {best[1] / best[0]:.1f} times as long |"
                  f" {best[2] / best[0]:.1f} times as long |", flush=True)
    print("\n".join(wrong) or "hits are as near as they should be")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
