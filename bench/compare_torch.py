#!/usr/bin/env python3
"""Compares inlay with PyTorch and FBGEMM on the CPU: the same ids, the same weights, by turns.

part embedding: a step without a network: look up, pool, sum gradients by row, row-wise Adagrad.
  The ids are those of the synthetic generator (criteo_shape at full scale, one id in each of 26
  fields), 8192 samples a batch, many batches in rotation; the gradient of the pooled embeddings is
  a file of random numbers. inlay gets the raw ids, and besides the row numbers of the others:
  PyTorch and FBGEMM need rows 0 .. n - 1, which are numbered outside of all timing, and get tables
  of just the rows that occur. FBGEMM is one TBE for all tables, and with several threads also one
  TBE a thread, each with its share of the tables. PyTorch has one EmbeddingBag a table or one for
  all, whichever is faster, and torch.optim.Adagrad or, as it lacks that rule, a row-wise Adagrad of
  a dozen lines; SGD and SparseAdam are tried and printed. After as many identical steps as there
  are batches, the rows of inlay, FBGEMM and a row-wise PyTorch must be equal within rounding: they
  have done the same work.

part deepfm: what `train_ctr --model deepfm` trains with its defaults, and the same network written
  in PyTorch: same rows, same order of epochs, same initial weights, both with all samples in memory
  and in batches before the clock runs. Logits of both must agree before and soon after the first
  step, and the mean AUC over seeds within 0.002.

A ratio is the time of the other over that of inlay: above one, inlay is faster. Both sides take
turns, a few steps each, and the ratio is the median over rounds of the rounds' ratios, so that what
else the machine does hits both. `ms` is by the clock on the wall, medians as well. Ratios by
processor time stand beside them: trust these more on a machine in use, but with one thread only,
for PyTorch's waiting threads spin, and crawl where others want the processor.

inlay runs in a process of its own, compare_torch_peer, which the build makes. PyTorch and FBGEMM
run in a virtual environment of this script's own, made at the first call from pinned versions (5
GB, since PyPI's PyTorch brings its CUDA libraries). With --memory tuned their process has large
tensors on huge pages and a malloc that keeps what it has, as inlay does of itself; plain is what a
user gets who sets nothing.

The exit status is 1 where results differ, and where something is missing.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent / "build"

PAIRS = {
    "2.14": ["torch==2.14.1", "fbgemm-gpu-cpu==1.9.0", "numpy==2.4.6"],
    "2.10": ["torch==2.10.0", "fbgemm-gpu-cpu==1.5.0", "numpy==2.4.6"],
}

# Tuned: a step's large temporaries come back without page faults. None: not to be set.
MEMORY = {
    "tuned": {"THP_MEM_ALLOC_ENABLE": "1", "MALLOC_MMAP_MAX_": "0",
              "MALLOC_TRIM_THRESHOLD_": "100000000000"},
    "plain": {"THP_MEM_ALLOC_ENABLE": None, "MALLOC_MMAP_MAX_": None,
              "MALLOC_TRIM_THRESHOLD_": None},
}


def parse_arguments():
    """What the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--part", choices=["embedding", "deepfm", "both"], default="both")
    add("--threads", type=int, nargs="+", default=[1, 2], metavar="N")
    add("--json", type=pathlib.Path, metavar="FILE", help="write all figures there")
    add("--pair", choices=PAIRS, default="2.14",
        help="release of PyTorch, and FBGEMM's for it: 2.10 is the last whose FBGEMM wheel runs "
             "one TBE on several threads, and is faster at dim 64 [%(default)s]")
    add("--memory", choices=MEMORY, default="tuned", help="of PyTorch and FBGEMM [%(default)s]")
    add("--venv", type=pathlib.Path, metavar="DIR",
        help="the virtual environment [build/compare_torch_venv, with the pair behind it]")
    add("--peer", type=pathlib.Path, metavar="FILE",
        default=BUILD / "host" / "bench" / "compare_torch_peer",
        help="inlay's side [build/host/bench/compare_torch_peer]; a train_ctr of the same build is "
             "run for comparison")
    add("--patience", type=float, default=3, metavar="SECONDS",
        help="how long a round waits for the machine to be idle otherwise [%(default)s]")
    embedding = parser.add_argument_group("part embedding").add_argument
    embedding("--dims", type=int, nargs="+", default=[16, 64], metavar="N")
    embedding("--rows", type=int, default=8192, metavar="N", help="samples a batch [%(default)s]")
    embedding("--batches", type=int, default=32, metavar="N", help="in rotation [%(default)s]")
    embedding("--rounds", type=int, default=15, metavar="N", help="[%(default)s]")
    deepfm = parser.add_argument_group("part deepfm").add_argument
    deepfm("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5], metavar="N")
    deepfm("--deepfm-batches", type=int, nargs="+", default=[256, 2048], metavar="N",
           help="samples a batch [256 2048]")
    deepfm("--clicks", type=int, default=100_000, metavar="N",
           help="samples, 80 %% of which train [%(default)s]")
    deepfm("--epochs", type=int, default=4, metavar="N", help="[%(default)s]")
    chosen = parser.parse_args()
    chosen.venv = (chosen.venv or BUILD / f"compare_torch_venv_{chosen.pair}").absolute()
    return chosen


def run_or_end(command, trouble):
    """Runs a command, or ends with `trouble` and its last words."""
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        last_words = (done.stderr.strip().splitlines() or ["no reason was given"])[-1]
        sys.exit(f"compare_torch: {trouble}: {last_words}")


def require_packages(venv, requirements):
    """Makes the virtual environment, unless it is there with just these packages."""
    python = venv / "bin" / "python"
    stamp = venv / "compare_torch.txt"
    if stamp.exists() and stamp.read_text().split() == requirements:
        return python
    print(f"compare_torch: installing {', '.join(requirements)} into {venv}", flush=True)
    if not python.exists():
        run_or_end([sys.executable, "-m", "venv", str(venv)],
                   "can't make a virtual environment (Debian: python3-venv)")
    run_or_end([str(python), "-m", "pip", "install", "--quiet", *requirements],
               "pip can't install PyTorch and FBGEMM: they need a registry that pip reaches, 5 GB "
               "and a Python that they have wheels for")
    stamp.write_text("\n".join(requirements) + "\n")
    return python


def require_environment(chosen):
    """Goes on in the virtual environment: returns there, and only there."""
    python = require_packages(chosen.venv, PAIRS[chosen.pair])
    settings = MEMORY[chosen.memory]
    here = pathlib.Path(sys.prefix).resolve() == chosen.venv.resolve()
    if here and all(os.environ.get(name) == value for name, value in settings.items()):
        return
    environment = {name: value for name, value in os.environ.items() if name not in settings}
    environment |= {name: value for name, value in settings.items() if value is not None}
    command = [str(python), str(pathlib.Path(__file__).resolve()), *sys.argv[1:]]
    os.execve(command[0], command, environment)


def main():
    """Runs the parts; the exit status."""
    chosen = parse_arguments()
    if not chosen.peer.exists():
        sys.exit(f"compare_torch: there is no {chosen.peer}: build the target compare_torch_peer")
    require_environment(chosen)
    sys.path.insert(0, str(HERE / "compare_torch"))
    import deepfm_part
    import embedding_part
    import report
    from peer import Peer
    from quiet import Patience

    report.silence_warnings()
    results = {"machine": report.machine(), "memory": chosen.memory}
    patience = Patience(chosen.patience)
    with tempfile.TemporaryDirectory() as folder:
        with Peer(chosen.peer, folder, without=MEMORY[chosen.memory]) as peer:
            if chosen.part != "deepfm":
                results["embedding"] = embedding_part.run(peer, chosen, patience)
            if chosen.part != "embedding":
                results["deepfm"] = deepfm_part.run(peer, chosen, patience)
    print(f"\n{patience.words()}")
    if chosen.json:
        report.write_json(chosen.json, results)
    return report.end(results)


if __name__ == "__main__":
    sys.exit(main())
