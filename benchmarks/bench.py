#!/usr/bin/env python3
"""Builds and runs benchmarks/NAME*.cpp, for Taeda and, from the same source, for LibTorch; prints both medians and their ratio.

Each program is run several times, ours and the peer's in turn, so that whatever else the machine does meets both. The bars are
read from the benchmarks' labels (benchmarks/peer.h). The table goes to benchmarks/results/NAME.md, with the command that made it.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(command, **options):
    print("$", " ".join(str(part) for part in command), flush=True)
    subprocess.run(command, check=True, **options)


def torch_dir(build):
    """The folder of the Python package `torch`, fetched into a throw-away environment when TAEDA_TORCH_DIR does not name one.
    The wheel alone is enough for its C++ library, with two small libraries that this one is linked to."""
    if os.environ.get("TAEDA_TORCH_DIR"):
        return Path(os.environ["TAEDA_TORCH_DIR"])
    venv = build / "peer" / "venv"
    pip = venv / "bin" / "pip"
    found = list(venv.glob("lib/python3*/site-packages/torch/lib/libtorch_cpu.so"))
    if not found:
        run([sys.executable, "-m", "venv", venv])
        run([pip, "install", "--quiet", "--no-cache-dir", "--no-deps", "torch"])
        metadata = next(venv.glob("lib/python3*/site-packages/torch-*.dist-info/METADATA")).read_text()
        toolkit = re.search(r"Requires-Dist: cuda-toolkit\[[^\]]*\](==[\w.]+)", metadata)
        if toolkit:
            run([pip, "install", "--quiet", "--no-cache-dir", "cuda-toolkit[cudart,cupti]" + toolkit[1]])
        found = list(venv.glob("lib/python3*/site-packages/torch/lib/libtorch_cpu.so"))
    return found[0].parent.parent


def peer_flags(build):
    """What compiles and links a program against LibTorch instead of Taeda: (compile flags, link flags)."""
    torch = torch_dir(build)
    folders = [torch / "lib", *sorted(torch.parent.glob("nvidia/*/lib"))]
    return (["-DTAEDA_PEER_TORCH", "-D_GLIBCXX_USE_CXX11_ABI=1", "-isystem", torch / "include",
             "-isystem", torch / "include/torch/csrc/api/include"],
            [*(f"-L{folder}" for folder in folders), *(f"-Wl,-rpath,{folder}" for folder in folders),
             *(f"-Wl,-rpath-link,{folder}" for folder in folders), "-ltorch_cpu", "-lc10"])


def build_peer(source, build):
    """Compiles the benchmark against LibTorch; returns the program."""
    program = build / "peer" / source.stem
    inputs = [source, ROOT / "benchmarks/peer.h"]
    if program.exists() and all(program.stat().st_mtime > path.stat().st_mtime for path in inputs):
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    compile_flags, link_flags = peer_flags(build)
    run([os.environ.get("CXX", "g++"), "-std=c++20", "-O3", "-DNDEBUG", f"-I{ROOT}", *compile_flags, source, "-o", program,
         *link_flags, "-lbenchmark", "-lpthread"])
    return program


def environment(threads):
    """Of a program that may use `threads` threads."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TAEDA_NUM_THREADS", "BENCH_THREADS")
    variables = {"BENCH_IMAGES": str(ROOT / "build/peer/images"), **os.environ, **dict.fromkeys(names, str(threads))}
    variables.pop("OPENBLAS_CORETYPE", None)
    return variables


def measure(program, pattern, seconds, threads):
    """One run of a program: {benchmark: {"ns", "bytes", "label"}} in the order of the program. On one thread the time is that of the
    processor, which other work on the machine disturbs least; on several it is the clock's."""
    output = subprocess.run([*program, "--benchmark_format=json", f"--benchmark_filter={pattern}",
                             f"--benchmark_min_time={seconds}"], check=True, capture_output=True, text=True, env=environment(threads))
    unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    clock = "cpu_time" if threads == 1 else "real_time"
    return {entry["name"].removesuffix("/iterations:1"): {"ns": entry[clock] * unit[entry["time_unit"]], "bytes": entry.get("bytes_per_second"),
                            "label": entry.get("label", "")}
            for entry in json.loads(output.stdout or '{"benchmarks": []}')["benchmarks"] if "error_occurred" not in entry}


def peak_memory(program, name):
    """The most memory (bytes) that a process had which ran this benchmark alone, or None when the program does not say it."""
    output = subprocess.run([*program, f"--benchmark_filter=^{re.escape(name)}(/iterations:1)?$", "--benchmark_min_time=0.05"], check=True,
                            capture_output=True, text=True, env=environment(1))
    found = re.search(r"VmHWM:\s*(\d+) kB", output.stderr)
    return int(found[1]) * 1024 if found else None


def medians(runs):
    """The medians over several runs of one program."""
    merged = {}
    for name, first in runs[0].items():
        rates = [run[name]["bytes"] for run in runs if run[name]["bytes"]]
        merged[name] = {"ns": statistics.median(run[name]["ns"] for run in runs), "label": first["label"], "runs": [run[name]["ns"] for run in runs],
                        "bytes": statistics.median(rates) if rates else None}
    return merged


def over(entry, other):
    """The median of the ratios within one run each: what else the machine does meets both."""
    return statistics.median(a / b for a, b in zip(entry["runs"], other["runs"]))


def judge(name, ours, peer):
    """Each bar of a benchmark with its outcome: [(text, holds or None when it can't be told)]."""
    entry = ours[name]
    values = {"ns": entry["ns"]}
    if peer and name in peer:
        values["ratio"] = peer[name]["ns"] / entry["ns"]
        if entry.get("memory") and peer[name].get("memory"):
            values["memory"] = entry["memory"] / peer[name]["memory"]
    if "copy_16M" in ours and entry["bytes"]:
        values["copy"] = entry["bytes"] / ours["copy_16M"]["bytes"]
    for other in ours:
        values["over_" + other] = over(entry, ours[other])
        values["more_than_" + other] = entry["ns"] - ours[other]["ns"]
    outcome = []
    for key, relation, bound in re.findall(r"(\w+)(<=|>=)([\d.e]+)", entry["label"]):
        value = values.get(key)
        holds = None if value is None else (value <= float(bound) if relation == "<=" else value >= float(bound))
        shown = f" ({value:.3g})" if value and key not in ("ns", "ratio", "memory") else ""
        outcome.append((f"{key} {relation} {bound}{shown}", holds))
    return outcome


def number(ns):
    for bound, divisor, unit in ((1e4, 1, "ns"), (1e7, 1e3, "µs"), (float("inf"), 1e6, "ms")):
        if ns < bound:
            return f"{ns / divisor:.{1 if ns / divisor < 100 else 0}f} {unit}"


def table(ours, peer):
    has_memory = any(entry.get("memory") for entry in ours.values())
    rows = ["| benchmark | Taeda | LibTorch | ratio |" + (" peak memory |" if has_memory else "") + " bars |",
            "|---|---|---|---|---|" + ("---|" if has_memory else "")]
    for name, entry in ours.items():
        other = peer.get(name) if peer else None
        rate = f" ({entry['bytes'] / 1e9:.1f} GB/s)" if entry["bytes"] else ""
        cells = [name, number(entry["ns"]) + rate, number(other["ns"]) if other else "–",
                 f"{other['ns'] / entry['ns']:.2f}" if other else "–"]
        if has_memory:
            cells.append(" / ".join(f"{each['memory'] / 2**20:.0f}" for each in (entry, other) if each and each.get("memory")) + " MiB")
        cells.append("; ".join(text + {True: " ✓", False: " ✗ missed", None: " ?"}[holds] for text, holds in judge(name, ours, peer)))
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows + means(ours))


def means(ours):
    """A line for each set of benchmarks: the geometric mean of their first `over_` ratio, and the greatest."""
    sets = {}
    for name, entry in ours.items():
        base = re.search(r"over_(\w+)<=", entry["label"])
        for found in re.findall(r"\bmean_(\w+)", entry["label"]):
            if base and base[1] in ours:
                sets.setdefault(found, []).append((over(entry, ours[base[1]]), name))
    return ["", *(f"{found}: geometric mean {statistics.geometric_mean(value for value, _ in ratios):.3f} over {len(ratios)} benchmarks, at most "
                  f"{max(ratios)[0]:.3f} ({max(ratios)[1]}).\n" for found, ratios in sets.items())] if sets else []


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown"


def main():
    parser = argparse.ArgumentParser(prog="./run bench", description=__doc__.splitlines()[0])
    parser.add_argument("name", help="benchmarks/NAME*.cpp")
    parser.add_argument("--no-peer", action="store_true", help="do not measure LibTorch")
    parser.add_argument("--filter", default=".", help="regular expression of benchmark names")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each program; medians are reported")
    parser.add_argument("--threads", type=int, help="this number of threads only")
    parser.add_argument("--seconds", default="0.2", help="least time for each benchmark in each run")
    parser.add_argument("--build", default="build", help=argparse.SUPPRESS)
    parser.add_argument("--jobs", default="2", help=argparse.SUPPRESS)
    options = parser.parse_args()
    build = ROOT / options.build
    if options.name == "hello":
        import hello
        return hello.measure(build, options)
    sources = sorted((ROOT / "benchmarks").glob(options.name + "*.cpp"))
    if not sources:
        sys.exit(f"[bench] no benchmarks/{options.name}*.cpp")
    run(["ninja", "-C", build, "-j", options.jobs, *(f"bench_{source.stem}" for source in sources)])
    sections = [section for source in sources for section in compare(source, build, options)]
    if options.filter == ".":
        command = f"./run bench {options.name}" + (" --no-peer" if options.no_peer else "")
        (ROOT / "benchmarks/results").mkdir(exist_ok=True)
        (ROOT / f"benchmarks/results/{options.name}.md").write_text(
            f"# {options.name}\n\n`{command}`: both programs from the same source, medians of {options.rounds} runs in turn (on one thread of "
            f"processor time), {processor()}.\n\n" + "\n\n".join(sections) + "\n")


def compare(source, build, options):
    """Runs a source's programs in turn; returns one titled table for each number of threads."""
    text = source.read_text()
    programs = [[build / "benchmarks" / f"bench_{source.stem}"]]
    script = re.search(r"^// peer: (\S+)$", text, re.M)
    if script and not options.no_peer and os.environ.get("TAEDA_TORCHVISION_PYTHON"):
        programs.append([os.environ["TAEDA_TORCHVISION_PYTHON"], source.parent / script[1]])
    elif not script and not options.no_peer and "// no peer" not in text:
        programs.append([build_peer(source, build)])
    wanted = re.search(r"^// threads: ([\d ]+)$", text, re.M)
    counts = [int(n) for n in wanted[1].split()] if wanted else [1]
    if options.threads:
        counts = [options.threads]
    sections = []
    for threads in counts:
        runs = [[measure(program, options.filter, options.seconds, threads) for program in programs] for _ in range(options.rounds)]
        results = [medians([each[k] for each in runs]) for k in range(len(programs))]
        if threads == 1 and "memory<=" in text:
            for program, result in zip(programs, results):
                for name, entry in result.items():
                    entry["memory"] = peak_memory(program, name)
        ours, peer = results[0], results[1] if len(results) > 1 else None
        if ours:
            sections.append(f"## benchmarks/{source.name}, {threads} thread{'s' if threads > 1 else ''}\n\n{table(ours, peer)}")
            print(sections[-1], flush=True)
    return sections


if __name__ == "__main__":
    main()
