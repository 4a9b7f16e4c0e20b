"""Tables for people, JSON for programs, and the exit status."""

import json
import os
import platform
import statistics
import warnings

import torch

AUC_TOLERANCE = 0.002
ROWS_TOLERANCE = 1e-4  # of the longest way that a weight went


def silence_warnings():
    """FBGEMM and PyTorch warn about features of theirs that are not used here."""
    warnings.filterwarnings("ignore")


def machine():
    """What the figures belong to."""
    from importlib.metadata import version
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "torch": torch.__version__,
        "fbgemm": version("fbgemm-gpu-cpu"),
        "vector_unit": torch.backends.cpu.get_cpu_capability(),
    }


def processor():
    """The processor's name, where the system tells it."""
    try:
        with open("/proc/cpuinfo") as lines:
            names = (line.split(":")[1].strip() for line in lines if line.startswith("model name"))
            return next(names)
    except (OSError, StopIteration):
        return platform.processor()


def show_table(head, rows):
    """A table that is Markdown too."""
    table = [head, *rows]
    widths = [max(len(str(row[column])) for row in table) for column in range(len(head))]
    for number, row in enumerate(table):
        print("| " + " | ".join(str(cell).ljust(width) for cell, width in zip(row, widths)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def show_embedding(seen):
    """All that was measured for a pair of dim and threads."""
    print(f"\ndim {seen['dim']}, {seen['threads']} threads")
    show_table(["side", "ms a step", "ratio", "by processor time"],
               [[name, f"{ms:.2f}", f"{seen['ratio'][name]:.2f}", f"{seen['cpu_ratio'][name]:.2f}"]
                for name, ms in seen["ms"].items()])
    print("inlay, ms by stage: " + ", ".join(
        f"{stage} {ms:.2f}" for stage, ms in seen["stage_ms"].items()))
    print("tried in PyTorch, ms: " + "; ".join(
        f"{name} {ms:.0f}" for name, ms in seen["torch_tried_ms"].items()))
    for name, share in seen["apart"].items():
        verdict = "equal within rounding" if share < ROWS_TOLERANCE else "DIFFERENT WORK"
        print(f"rows beside {name}: at most {share:.1e} of the longest move apart, {verdict}")


KINDS = ["FBGEMM", "PyTorch Adagrad", "PyTorch row-wise"]


def least(values, kind):
    """The least value of the opponents of a kind: that of the fastest."""
    return min(value for name, value in values.items() if name.startswith(kind))


def show_embeddings(results):
    """The lines that goals are about: the fastest opponent of each kind."""
    print()
    rows = []
    for seen in results:
        rows.append([seen["dim"], seen["threads"]]
                    + [f"{least(seen['ms'], kind):.1f}" for kind in ("inlay, raw", *KINDS)]
                    + [f"{least(seen['ratio'], kind):.2f} ({least(seen['cpu_ratio'], kind):.2f})"
                       for kind in KINDS]
                    + [f"{ms:.2f}" for ms in seen["stage_ms"].values()])
    print("ms a step, ratios to inlay (and by processor time), inlay's ms by stage")
    show_table(["dim", "threads", "inlay", *KINDS, *(f"{kind} / inlay" for kind in KINDS),
                *results[0]["stage_ms"]], rows)


def show_training(seen):
    """One seed of a pair of batch and threads."""
    print(f"  seed {seen['seed']}: inlay {seen['inlay_rate']:,.0f}, "
          f"PyTorch {seen['torch_rate']:,.0f} samples/s, ratio {seen['ratio']:.2f}; "
          f"AUC {seen['inlay_auc']:.4f}, {seen['torch_auc']:.4f}; "
          f"logits apart by {seen['logits_apart_before']:.1e} before, "
          f"{seen['logits_apart_soon']:.1e} after the first steps", flush=True)


def show_trainings(results):
    """A line for each pair of batch and threads."""
    print()

    def mean(seen, key):
        return statistics.mean(each[key] for each in seen["seeds"])

    show_table(
        ["batch", "threads", "inlay samples/s", "PyTorch samples/s", "ratio", "(cpu)", "inlay AUC",
         "PyTorch AUC", "difference", "train_ctr samples/s, all in"],
        [[seen["batch"], seen["threads"], f"{mean(seen, 'inlay_rate'):,.0f}",
          f"{mean(seen, 'torch_rate'):,.0f}", f"{seen['ratio']:.2f}", f"{seen['cpu_ratio']:.2f}",
          f"{mean(seen, 'inlay_auc'):.4f}", f"{mean(seen, 'torch_auc'):.4f}",
          f"{seen['auc_difference']:+.4f}", seen["train_ctr_rate"]] for seen in results])
    for seen in results:
        print(f"batch {seen['batch']}, {seen['threads']} threads, inlay, ms by stage: " + ", ".join(
            f"{stage} {ms:.3f}" for stage, ms in seen["stage_ms"].items()))


def write_json(path, results):
    """All figures."""
    path.write_text(json.dumps(results, indent=2) + "\n")


def end(results):
    """The exit status, and why it is not zero."""
    faults = [f"dim {seen['dim']}, {seen['threads']} threads: rows differ"
              for seen in results.get("embedding", []) if not seen["equal"]]
    for seen in results.get("deepfm", []):
        where = f"deepfm, batch {seen['batch']}, {seen['threads']} threads"
        if abs(seen["auc_difference"]) > AUC_TOLERANCE:
            faults.append(f"{where}: AUC differs by {seen['auc_difference']:+.4f}")
        if not seen["equal"]:
            faults.append(f"{where}: logits differ")
    for fault in faults:
        print(f"compare_torch: {fault}")
    return 1 if faults else 0
