#!/usr/bin/env python3
"""Measures `cyan` on a cluster of Kubernetes against a client that only sends the same requests.

  kubernetes.py --bin target/dist/cyan --bare-client target/dist/examples/bare_kube_client [--n 1000] [--reps 3]

`KUBECONFIG` names the cluster; `cargo xtask kubernetes` starts one. Both tools run in this run, in turn. Each phase checks that its
result is right. Standard library only.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

PHASES = ("stage", "deploy", "read", "destroy")
MOST = 1.3


def document(n, namespace):
    lines = "".join(
        f"  c{at}: {{type: kubernetes/core/ConfigMap, spec: {{metadata: {{name: c{at}, namespace: {namespace}}}, data: {{k: v{at}}}}}}}\n"
        for at in range(n)
    )
    return f"version: 2023-04-20\nresources:\n{lines}"


def timed(command, folder, wanted=None):
    began = time.monotonic()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    took = time.monotonic() - began
    if done.returncode != 0 or wanted and not re.search(wanted, done.stdout):
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return took


def once(a, folder, namespace):
    """The seconds of each phase, of `cyan` and of the bare client."""
    n = a.n
    with open(os.path.join(folder, "app.yaml"), "w") as f:
        f.write(document(n, namespace))
    ours = {
        "stage": (["stage", "app.yaml", "-q"], f"^{n} to create"),
        "deploy": (["deploy", "app.yaml", "--yes", "-q"], f"^{n} created"),
        "read": (["stage", "app.yaml", "-q"], "^0 to create, 0 to update, 0 to delete"),
        "destroy": (["destroy", "app.yaml", "--yes", "-q"], f"{n} deleted"),
    }
    figures = {}
    for phase in PHASES:
        arguments, wanted = ours[phase]
        figures[phase] = [timed([a.bin, *arguments], folder, wanted)]
    for phase in PHASES:
        figures[phase].append(timed([a.bare_client, phase, str(n), namespace], folder))
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--bare-client", required=True)
    parser.add_argument("--kubectl", default="kubectl")
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--reps", type=int, default=3)
    a = parser.parse_args()
    a.bin, a.bare_client = os.path.abspath(a.bin), os.path.abspath(a.bare_client)
    namespace = f"measured-{os.getpid()}"
    subprocess.run([a.kubectl, "create", "namespace", namespace], check=True, capture_output=True)
    try:
        runs = []
        for _ in range(a.reps):
            with tempfile.TemporaryDirectory() as folder:
                runs.append(once(a, folder, namespace))
    finally:
        subprocess.run([a.kubectl, "delete", "namespace", namespace, "--wait=false"], capture_output=True)
    met = True
    print(f"| {a.n} ConfigMaps | cyan | bare client | ratio |\n|---|---|---|---|")
    for phase in PHASES:
        ours, bare = (statistics.median(run[phase][at] for run in runs) for at in (0, 1))
        # A deletion has no bar: the server's garbage collector decides.
        met &= phase == "destroy" or ours <= MOST * bare
        print(f"| {phase} | {ours:.2f} s | {bare:.2f} s | {ours / bare:.2f} |")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
