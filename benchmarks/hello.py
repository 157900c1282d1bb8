"""`./run bench hello`: compile time, start to first result and sizes of the smallest program, for Taeda and LibTorch.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import statistics
import subprocess
import time
from pathlib import Path

from bench import ROOT, peer_flags, processor, run


def loaded_bytes(program):
    """The size of every shared library that the program loads."""
    listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    paths = {os.path.realpath(path) for path in re.findall(r"(/\S+) \(0x", listed)}
    return sum(Path(path).stat().st_size for path in paths)


def stripped_bytes(library, scratch):
    """The size of a library without its symbols for the debugger."""
    run(["strip", "--strip-unneeded", "-o", scratch, library])
    return scratch.stat().st_size


def seconds(command, times):
    """The median wall time of a command."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def one_side(compile_flags, link_flags, program, library):
    compiler = os.environ.get("CXX", "g++")
    source = ROOT / "benchmarks/hello.cpp"
    program.parent.mkdir(parents=True, exist_ok=True)
    object_file = program.with_suffix(".o")
    compiled = seconds([compiler, "-std=c++20", "-O2", *compile_flags, "-c", source, "-o", object_file], 3)
    run([compiler, object_file, "-o", program, *link_flags])
    subprocess.run([program], check=True)
    return {"compile": f"{compiled:.2f} s", "start to first result": f"{seconds([program], 21) * 1e3:.1f} ms",
            "stripped library": f"{stripped_bytes(library, program.with_suffix('.stripped')) / 1e6:.1f} MB",
            "all it loads": f"{loaded_bytes(program) / 1e6:.1f} MB"}


def measure(build, options):
    run(["ninja", "-C", build, "-j", options.jobs, "taeda"])
    sides = {"Taeda": one_side([f"-I{ROOT}", f"-I{build / 'generated'}"], [build / "libtaeda.so", f"-Wl,-rpath,{build}"],
                               build / "benchmarks/hello", build / "libtaeda.so")}
    if not options.no_peer:
        compile_flags, link_flags = peer_flags(build)
        library = next(Path(str(flag)[2:]) for flag in link_flags if str(flag).startswith("-L")) / "libtorch_cpu.so"
        sides["LibTorch"] = one_side(compile_flags, link_flags, build / "peer/hello", library)
    bars = {"compile": "≤ 2 s", "start to first result": "≤ 10 ms", "stripped library": "≤ 12 MB", "all it loads": "≤ 100 MB"}
    rows = ["| | " + " | ".join(sides) + " | bar |", "|---" * (len(sides) + 2) + "|"]
    rows += [f"| {what} | " + " | ".join(side[what] for side in sides.values()) + f" | {bar} |" for what, bar in bars.items()]
    text = "\n".join(rows)
    print(text)
    command = "./run bench hello" + (" --no-peer" if options.no_peer else "")
    (ROOT / "benchmarks/results").mkdir(exist_ok=True)
    (ROOT / "benchmarks/results/hello.md").write_text(
        f"# hello\n\n`{command}`: benchmarks/hello.cpp, medians (compile of 3, start of 21), {processor()}.\n\n{text}\n")
