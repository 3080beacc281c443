#!/usr/bin/env python3
"""Measures what docs/performance.md states and writes its tables: ratios to Terraform, and the bars of bench/README.md.

  performance.py --bin target/dist/cyan --bare-client bare_client --page performance.md [--reps 3]

Both tools run in this run, on this machine, in turn. Without `terraform` or `tofu` on PATH nothing is written. Every phase checks
that its result is right. Syncs are counted with strace. Standard library only; `cargo xtask performance` builds the binary and
calls this.
"""
import argparse
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import pulumi

HERE = os.path.dirname(os.path.abspath(__file__))
BEGIN, END = "<!-- figures: written by `cargo xtask performance` -->", "<!-- end of figures -->"
PHASES = [
    ("validate", "check"),
    ("plan_empty", "stage, empty state"),
    ("apply", "deploy"),
    ("plan_noop", "stage, no change"),
    ("destroy", "destroy"),
]
SHAPES = ["wide", "chain", "layered", "each", "modules", "links"]
PARALLELISM = 10


def run(args, out):
    """Runs bench.py; its rows."""
    subprocess.run([sys.executable, os.path.join(HERE, "bench.py"), *args, "--out", out], check=True, stdout=sys.stderr)
    with open(out) as f:
        rows = json.load(f)["rows"]
    for row in rows:
        if "failed" in row:
            print(f"failed: {row['tool']} {row['shape']} {row['n']} {row['phase']}: {row['failed']}", file=sys.stderr)
    return rows


def of(rows, **wanted):
    found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    return [] if any("failed" in row for row in found) else found


def cpu(row):
    return row["user"] + row["sys"]


def seconds(value):
    return f"{value * 1000:,.0f} ms" if value < 10 else f"{value:,.1f} s"


def ratios(a, rival):
    """Both tools in turn on 1,000 resources: median times and their ratio."""
    rows = run(["--tool", "terraform-http", "--bin", f"terraform-http={rival}", "--tool", "ours", "--bin", f"ours={a.bin}",
                "--shape", "wide,layered", "--n", "1000", "--reps", str(a.reps)], a.out("ratios"))
    lines = []
    for shape in ("wide", "layered"):
        for phase, name in PHASES:
            both = [of(rows, tool=tool, shape=shape, phase=phase) for tool in ("ours", "terraform-http")]
            if not all(both):
                lines.append(f"| {name}, {shape} | failed | failed | - |")
                continue
            ours, theirs = (statistics.median(row["wall"] for row in found) for found in both)
            lines.append(f"| {name}, {shape} | {seconds(ours)} | {seconds(theirs)} | 1 : {theirs / ours:,.0f} |")
    return lines


def growth(a):
    """CPU of 10,000 resources by that of 1,000: the worst phase of each shape."""
    rows = run(["--tool", "ours", "--bin", f"ours={a.bin}", "--shape", ",".join(SHAPES), "--n", "1000,10000", "--reps", str(a.reps)], a.out("growth"))
    worst = {}
    for shape in SHAPES:
        for phase, name in PHASES:
            small, large = of(rows, shape=shape, n=1000, phase=phase), of(rows, shape=shape, n=10000, phase=phase)
            # Below some milliseconds the clock is too coarse for a ratio.
            if small and large and statistics.median(map(cpu, small)) >= 0.005:
                ratio = statistics.median(map(cpu, large)) / statistics.median(map(cpu, small))
                worst[shape] = max(worst.get(shape, (0, "")), (ratio, name))
    shown = ", ".join(f"{shape} {worst[shape][0]:.1f} ({worst[shape][1]})" if shape in worst else f"{shape} failed" for shape in SHAPES)
    met = len(worst) == len(SHAPES) and all(ratio <= 13 for ratio, _ in worst.values())
    large = {phase: of(rows, shape="layered", n=10000, phase=phase) for phase, _ in PHASES}
    context = [f"{name} {seconds(statistics.median(row['wall'] for row in large[phase]))}" for phase, name in PHASES if large[phase]]
    memory = max((row["rss_mb"] for found in large.values() for row in found), default=0)
    return (f"| CPU of 10,000 resources / CPU of 1,000, worst phase | {shown} | 13 | {word(met)} |",
            f"10,000 layered resources, for context: {', '.join(context)}; at most {memory:,.0f} MB.")


def word(met):
    return "met" if met else "**missed**"


def emitted(folder, shape, n):
    """A generated document; its path."""
    out = os.path.join(folder, f"{shape}-{n}")
    subprocess.run([sys.executable, os.path.join(HERE, "gen.py"), "--emit", "blueprint", "--shape", shape, "--n", str(n), "--out", out], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(out, "main.yaml")


def syncs(a, n):
    """How often a wide deploy and destroy wait for the disk."""
    most, counts = 2 * -(-n // PARALLELISM) + 10, []
    with tempfile.TemporaryDirectory(dir=a.work) as folder:
        file, report = emitted(folder, "wide", n), os.path.join(folder, "strace")
        where = ["--instance", "a", "--state", f"sqlite:{folder}/state.db", "--yes", "--parallelism", str(PARALLELISM)]
        for command in (["deploy", file, *where], ["destroy", *where]):
            traced = ["strace", "-f", "-c", "-o", report, "-e", "trace=fsync,fdatasync", a.bin, *command]
            subprocess.run(traced, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with open(report) as f:
                counts.append(sum(int(line.split()[3]) for line in f if re.search(r"\b(fsync|fdatasync)$", line.strip())))
    return f"| waits for the disk, {n:,} wide, {PARALLELISM} at once: deploy, destroy | {counts[0]:,}, {counts[1]:,} | {most:,} | {word(max(counts) <= most)} |"


def single_commits(folder, n):
    """Seconds for n commits of one row each, as SQLite makes them with a write-ahead log and `synchronous=FULL`."""
    opened = sqlite3.connect(os.path.join(folder, "single.db"), isolation_level=None)
    opened.execute("PRAGMA journal_mode=WAL")
    opened.execute("PRAGMA synchronous=FULL")
    opened.execute("CREATE TABLE IF NOT EXISTS rows (number INTEGER PRIMARY KEY, body BLOB)")
    body, begin = os.urandom(512), time.perf_counter()
    for _ in range(n):
        opened.execute("INSERT INTO rows (body) VALUES (?)", (body,))
    taken = time.perf_counter() - begin
    opened.close()
    return taken


def chain(a, n):
    """A chain of n resources against n single commits, in turn on the same disk."""
    ratios = []
    with tempfile.TemporaryDirectory(dir=a.work) as folder:
        file = emitted(folder, "chain", n)
        for number in range(max(3, a.reps)):
            singles = single_commits(folder, n)
            begin = time.perf_counter()
            subprocess.run([a.bin, "deploy", file, "--instance", "a", "--state", f"sqlite:{folder}/{number}.db", "--yes"],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            ratios.append((time.perf_counter() - begin) / singles)
    ratio = statistics.median(ratios)
    return f"| deploy of a chain of {n:,} / {n:,} single commits | {ratio:.2f} | 2 | {word(ratio <= 2)} |"


def machine():
    with open("/proc/cpuinfo") as f:
        models = re.findall(r"^model name\s*:\s*(.*)$", f.read(), re.M)
    with open("/proc/meminfo") as f:
        gib = int(re.search(r"MemTotal:\s*(\d+)", f.read()).group(1)) / (1 << 20)
    return f"{len(models)} x {models[0] if models else 'unknown processor'}, {gib:.0f} GiB, Linux {os.uname().release.split('-')[0]}, {time.strftime('%Y-%m-%d')}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin", required=True)
    p.add_argument("--bare-client", required=True)
    p.add_argument("--page", required=True)
    p.add_argument("--reps", type=int, default=3)
    p.add_argument("--work", default=tempfile.gettempdir())
    a = p.parse_args()
    a.bin, a.bare_client = os.path.abspath(a.bin), os.path.abspath(a.bare_client)
    a.out = lambda name: os.path.join(a.work, f"performance-{name}.json")
    rival = shutil.which("terraform") or shutil.which("tofu")
    if not rival or not shutil.which("strace"):
        sys.exit("terraform (or tofu) and strace must be on PATH: both tools are measured in one run")
    version = subprocess.run([rival, "version"], check=True, capture_output=True, text=True).stdout.split("\n")[0]
    compared = ratios(a, rival)
    grown, context = growth(a)
    bars = [grown, syncs(a, 10000), chain(a, 1000), *pulumi.bars(a)]
    text = "\n".join([
        BEGIN, "",
        f"{machine()}; {version} with its http backend; medians of {a.reps} runs of each, in turn; 1,000 resources, {PARALLELISM} calls at once.", "",
        "| what | cyan | Terraform | ratio |", "|---|---:|---:|---:|", *compared, "",
        "| bar | measured | at most | |", "|---|---|---:|---|", *bars, "",
        context, "", END,
    ])
    with open(a.page) as f:
        page = f.read()
    if BEGIN not in page or END not in page:
        sys.exit(f"{a.page} has no place for the figures")
    with open(a.page, "w") as f:
        f.write(page[: page.index(BEGIN)] + text + page[page.index(END) + len(END):])
    missed = sum("**missed**" in bar for bar in bars)
    print(f"written: {os.path.relpath(a.page)}; {len(bars) - missed} of {len(bars)} bars met")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
