#!/usr/bin/env python3
"""Measures programs of Pulumi YAML: `cyan` against a bare client of the same plugin, and against Pulumi's own command line.

  pulumi.py --bin target/dist/cyan --bare-client target/dist/examples/bare_client [--reps 3] [--only plugin,schema]

`CYAN_TEST_PULUMI` names a Python with the package `pulumi`, `CYAN_TEST_PULUMI_CLI` the folder of Pulumi's command line
(`cargo xtask plugins` prints both). All tools run in this run, in turn, with the plugin `shop` of the tests. Each step checks that
its result is right. Standard library only; `performance.py` calls `bars`.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SHOP = os.path.join(HERE, "../crates/pulumi_host/tests/peer/shop.py")
PARALLELISM = 16
PHASES = ("check", "stage, empty state", "deploy", "stage, no change", "destroy")


class Place:
    """A folder with a program, in which the plugin `shop` is on PATH."""

    def __init__(self, a, folder):
        self.a, self.folder, self.further = a, folder, 0
        os.makedirs(os.path.join(folder, "bin"))
        plugin = os.path.join(folder, "bin", "pulumi-resource-shop")
        with open(plugin, "w") as f:
            f.write(f'#!/bin/sh\nexec "{a.python}" "{os.path.abspath(SHOP)}" "$@"\n')
        os.chmod(plugin, 0o755)
        self.write("cyan.toml", f"[plugins.shop]\nkind = \"pulumi\"\npackage = \"shop\"\npath = '{plugin}'\n")
        path = [os.path.join(folder, "bin"), *([a.command_line] if a.command_line else []), os.environ["PATH"]]
        self.env = {
            "HOME": folder, "PATH": ":".join(path), "NO_COLOR": "1",
            "PULUMI_BACKEND_URL": f"file://{folder}/backend", "PULUMI_CONFIG_PASSPHRASE": "measured", "PULUMI_SKIP_UPDATE_CHECK": "1",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        }
        os.makedirs(os.path.join(folder, "backend"))
        self.clear()
        self.run([a.bin, "key", "new"])

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as f:
            f.write(text)

    def clear(self):
        """Begins with a new folder of items and a new stack file."""
        items = tempfile.mkdtemp(dir=self.folder)
        self.write("Pulumi.dev.yaml", json.dumps({"config": {"shop:folder": items}}))

    def program(self, n, resource):
        lines = "".join(f"  i{at}: {resource.format(at=at)}\n" for at in range(n))
        self.write("Pulumi.yaml", f"name: measured\nruntime: yaml\nresources:\n{lines}")
        # A default provider is a configuration with a record of its own.
        self.further = 1 if "shop:" in resource else 0

    def run(self, words, says=None, env=None):
        """Runs a command that must succeed and say something. Its wall time and the CPU of it and its children."""
        before = os.times()
        begin = time.perf_counter()
        done = subprocess.run(words, cwd=self.folder, env={**self.env, **(env or {})}, capture_output=True, text=True)
        wall, after = time.perf_counter() - begin, os.times()
        said = re.sub(r"(\d),(\d)", r"\1\2", done.stdout)
        if done.returncode != 0 or (says and says not in said):
            sys.exit(f"{words} should say `{says}`, ends with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return wall, after.children_user + after.children_system - before.children_user - before.children_system

    def cyan(self, phase, n, state, env=None):
        where = ["-i", "dev", "--state", f"sqlite:{self.folder}/{state}.db"]
        calls, all_ = ["--parallelism", str(PARALLELISM)], n + self.further
        words, says = {
            "check": (["validate", "Pulumi.yaml"], None),
            "stage, empty state": (["stage", *where], f"{all_} to create, 0 to update, 0 to delete"),
            "deploy": (["deploy", "--yes", *calls, *where], f"{all_} created, 0 updated, 0 deleted"),
            "stage, no change": (["stage", *where], "0 to create, 0 to update, 0 to delete"),
            "destroy": (["destroy", "--yes", *calls, *where], f"{all_} deleted"),
        }[phase]
        return self.run([self.a.bin, *words], says, env)

    def pulumi(self, words, says=None):
        program = os.path.join(self.a.command_line, "pulumi")
        return self.run([program, *words, "--non-interactive"], says)[0]


ITEM = "{{type: shop:Item, properties: {{label: label-{at}}}}}"
STASH = "{{type: pulumi:Stash, properties: {{input: text-{at}}}}}"


def bare(a, n):
    """Seconds of the same calls without `cyan`: those of a deployment, and those of a preview without changes."""
    client = [a.bare_client, str(n), str(PARALLELISM), "--", a.python, os.path.abspath(SHOP)]
    said = subprocess.run(client, check=True, capture_output=True, text=True).stdout
    took = {what: float(seconds) for what, seconds in re.findall(r"^(.*): ([0-9.]+) s,", said, re.M)}
    around = took["start"] + took["stop"]
    return around + took["create"], around + took["plan without changes"]


def word(met):
    return "met" if met else "**missed**"


def bar(what, ratio, most, shown=""):
    return f"| {what} | {ratio:.2f}{shown} | {most:g} | {word(ratio <= most)} |"


def plugin(a, n=2000):
    """`cyan` beside the bare client, in turn."""
    deploys, stages = [], []
    for number in range(a.reps):
        with tempfile.TemporaryDirectory(dir=a.work) as folder:
            place = Place(a, folder)
            place.program(n, ITEM)
            place.cyan("check", n, "state")
            creates, plans = bare(a, n)
            deploys.append((place.cyan("deploy", n, "state")[0], creates))
            stages.append((place.cyan("stage, no change", n, "state")[0], plans))
    lines = []
    for what, times in (("deploy", deploys), ("stage, no change", stages)):
        ratio = statistics.median(ours / theirs for ours, theirs in times)
        ours, theirs = (statistics.median(one) for one in zip(*times))
        lines.append(bar(f"{n:,} resources of a plugin / a bare client with the same calls: {what}", ratio, 1.3, f" ({ours:.2f} s, {theirs:.2f} s)"))
    return lines


def growth(a):
    """CPU of `cyan` alone, since the plugin runs already: 10,000 resources by 1,000."""
    worst = {}
    with tempfile.TemporaryDirectory(dir=a.work) as folder:
        place = Place(a, folder)
        running = subprocess.Popen([a.python, os.path.abspath(SHOP), "127.0.0.1:1"], stdout=subprocess.PIPE, text=True)
        try:
            attached = {"PULUMI_DEBUG_PROVIDERS": f"shop:{running.stdout.readline().strip()}"}
            for name, resource, env in (("plugin", ITEM, attached), ("Stash", STASH, None)):
                used = {}
                for n in (1000, 10000):
                    place.clear()
                    place.program(n, resource)
                    for phase in PHASES:
                        used[phase, n] = place.cyan(phase, n, f"{name}-{n}", env)[1]
                ratios = [(used[phase, 10000] / used[phase, 1000], phase) for phase in PHASES if used[phase, 1000] >= 0.005]
                worst[name] = max(ratios)
        finally:
            running.kill()
            running.wait()
    shown = ", ".join(f"{name} {ratio:.1f} ({phase})" for name, (ratio, phase) in worst.items())
    met = all(ratio <= 13 for ratio, _ in worst.values())
    return [f"| CPU of 10,000 resources of Pulumi / CPU of 1,000, worst phase | {shown} | 13 | {word(met)} |"]


def native(folder, n):
    out = os.path.join(folder, "native")
    words = [sys.executable, os.path.join(HERE, "gen.py"), "--emit", "blueprint", "--shape", "wide", "--n", str(n), "--out", out]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return os.path.join(out, "main.yaml")


def check(a, n=1000):
    """The check of resources whose schema is cached beside that of native ones."""
    with tempfile.TemporaryDirectory(dir=a.work) as folder:
        place = Place(a, folder)
        place.program(n, ITEM)
        file = native(folder, n)
        place.cyan("check", n, "state")
        times = [(place.cyan("check", n, "state")[0], place.run([a.bin, "validate", file])[0]) for _ in range(4 * a.reps + 1)]
    ours, theirs = (statistics.median(one) for one in zip(*times))
    return [bar(f"check of {n:,} resources with a cached schema / native ones", ours / theirs, 1.5, f" ({ours * 1000:.0f} ms, {theirs * 1000:.0f} ms)")]


def generated_schema(types, size):
    """A schema with so many resource types, each with properties and objects of its own, of about this size in bytes."""
    each = size // types
    sentence = "What it is, what it is for, and which values the service takes. "
    resources, objects = {}, {}
    for number in range(types):
        object_ = f"cloud:area{number % 40}/Settings{number}:Settings{number}"
        inputs = {"name": {"type": "string", "description": sentence}, "settings": {"$ref": f"#/types/{object_}"}}
        for at in range(24):
            kind = {"type": ("string", "integer", "boolean")[at % 3]} if at % 4 else {"type": "array", "items": {"type": "string"}}
            inputs[f"property{at}"] = {**kind, "description": sentence * (1 + at % 3)}
        objects[object_] = {"type": "object", "properties": {f"field{at}": {"type": "string", "description": sentence} for at in range(12)}}
        one = {"inputProperties": inputs, "requiredInputs": ["name"], "properties": {**inputs, "arn": {"type": "string"}}, "required": ["name", "arn"]}
        text = len(json.dumps(one)) + len(json.dumps(objects[object_]))
        one["description"] = (sentence * (1 + max(0, each - text) // len(sentence)))[: max(0, each - text)]
        resources[f"cloud:area{number % 40}/thing{number}:Thing{number}"] = one
    return {"name": "cloud", "version": "1.0.0", "resources": resources, "types": objects, "provider": {}, "config": {}}


def schema(a):
    """Ten types out of a large schema beside a schema of these ten."""
    large = generated_schema(1500, 40_000_000)
    chosen = list(large["resources"])[::150]
    used = {ref["$ref"].split("/", 2)[2] for one in chosen for ref in [large["resources"][one]["inputProperties"]["settings"]]}
    small = {**large, "resources": {one: large["resources"][one] for one in chosen}, "types": {one: large["types"][one] for one in used}}
    times = {}
    with tempfile.TemporaryDirectory(dir=a.work) as folder:
        place = Place(a, folder)
        lines = "".join(
            f"  r{at}: {{type: '{one}', properties: {{name: n, property1: 2, settings: {{field1: x}}}}}}\n" for at, one in enumerate(chosen)
        )
        place.write("Pulumi.yaml", f"name: measured\nruntime: yaml\nresources:\n{lines}")
        os.makedirs(os.path.join(folder, "schemas"))
        for name, one in (("large", large), ("small", small)):
            place.write(f"schemas/{name}.json", json.dumps(one))
            # A file that was changed just now may change again, so nothing is stored about it.
            os.utime(os.path.join(folder, f"schemas/{name}.json"), (1_700_000_000, 1_700_000_000))
        for number in range(4 * a.reps + 1):
            for name in ("large", "small"):
                place.write("cyan.toml", f"[plugins.cloud]\nkind = \"pulumi\"\npackage = \"cloud\"\nschema = \"schemas/{name}.json\"\n")
                wall = place.cyan("check", len(chosen), "state")[0]
                if number:  # The first check may store what the later ones read.
                    times.setdefault(name, []).append(wall)
    ours, theirs = (statistics.median(times[name]) for name in ("large", "small"))
    size = len(json.dumps(large)) / 1e6
    return [bar(f"check of ten of 1,500 types, a schema of {size:.0f} MB / a schema of these ten", ours / theirs, 3, f" ({ours * 1000:.0f} ms, {theirs * 1000:.0f} ms)")]


def stashes(a, n=1000):
    """Kept values, which need no plugin, beside Pulumi's command line."""
    lines = []
    with tempfile.TemporaryDirectory(dir=a.work) as folder:
        place = Place(a, folder)
        place.program(n, STASH)
        place.pulumi(["stack", "init", "dev"])
        ours = {phase: place.cyan(phase, n, "state")[0] for phase in PHASES[1:]}
        calls = ["--parallel", str(PARALLELISM)]
        theirs = {
            "stage, empty state": place.pulumi(["preview", *calls], f"{n + 1} to create"),
            "deploy": place.pulumi(["up", "--yes", "--skip-preview", *calls], f"{n + 1} created"),
            "stage, no change": place.pulumi(["preview", "--expect-no-changes", *calls]),
            "destroy": place.pulumi(["destroy", "--yes", "--skip-preview", *calls], f"{n + 1} deleted"),
        }
    for phase, part in (("deploy", 20), ("destroy", 20), ("stage, empty state", 10), ("stage, no change", 10)):
        shown = f" ({ours[phase]:.2f} s, {theirs[phase]:.2f} s)"
        lines.append(f"| {n:,} kept values (`Stash`), Pulumi / `cyan`: {phase} | {theirs[phase] / ours[phase]:.0f}{shown} | at least {part} | {word(theirs[phase] >= part * ours[phase])} |")
    return lines


def beside(a, n=1000):
    """What `cyan` takes above the bare client beside what Pulumi's command line takes above it."""
    with tempfile.TemporaryDirectory(dir=a.work) as folder:
        place = Place(a, folder)
        place.program(n, ITEM)
        place.cyan("check", n, "state")
        creates, plans = bare(a, n)
        ours = [place.cyan(phase, n, "state")[0] for phase in ("deploy", "stage, no change")]
        place.clear()
        place.pulumi(["stack", "init", "dev"])
        calls = ["--parallel", str(PARALLELISM)]
        theirs = [place.pulumi(["up", "--yes", *calls], f"{n + 1} created"), place.pulumi(["preview", "--expect-no-changes", *calls])]
    lines = []
    for what, one, other, client in zip(("deploy", "stage, no change"), ours, theirs, (creates, plans)):
        ratio = max(0, one - client) / max(0.001, other - client)
        lines.append(bar(f"{n:,} resources of a plugin, time above the bare client, `cyan` / Pulumi: {what}", ratio, 0.33, f" ({one:.2f} s, {other:.2f} s, bare {client:.2f} s)"))
    return lines


GROUPS = {"check": check, "schema": schema, "plugin": plugin, "growth": growth, "stashes": stashes, "beside": beside}
NEEDS_COMMAND_LINE = ("stashes", "beside")


def bars(a, only=None):
    """The rows of the bars. What a missing program prevents is said and left out."""
    a.python = os.environ.get("CYAN_TEST_PULUMI")
    a.command_line = os.environ.get("CYAN_TEST_PULUMI_CLI")
    if not a.python:
        print("skipped: CYAN_TEST_PULUMI is not set, so nothing of Pulumi is measured", file=sys.stderr)
        return []
    lines = []
    for name, measure in GROUPS.items():
        if only and name not in only:
            continue
        if name in NEEDS_COMMAND_LINE and not a.command_line:
            print(f"skipped: CYAN_TEST_PULUMI_CLI is not set, so `{name}` is not measured", file=sys.stderr)
            continue
        found = measure(a)
        print("\n".join(found), file=sys.stderr)
        lines += found
    return lines


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin", required=True)
    p.add_argument("--bare-client", required=True)
    p.add_argument("--reps", type=int, default=3)
    p.add_argument("--only", default="")
    p.add_argument("--work", default=tempfile.gettempdir())
    a = p.parse_args()
    a.bin, a.bare_client = os.path.abspath(a.bin), os.path.abspath(a.bare_client)
    found = bars(a, [one for one in a.only.split(",") if one])
    sys.exit(1 if any("**missed**" in line for line in found) else 0)


if __name__ == "__main__":
    main()
