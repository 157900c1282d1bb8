#!/usr/bin/env python3
"""Checks the tree itself: lengths, licence lines, links, stray machine paths, unfinished marks.

Prints each fault with its place and exits with 1 when there is one. `--library FILE` checks in place of the tree that a shared library
runs no static constructors.
SPDX-License-Identifier: Apache-2.0
"""
import re
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_LINES = 800
MAX_BYTES = 2 << 20
CODE = {".h", ".cpp", ".inc", ".py", ".cmake", ".sh", ".cu"}
DATA = ("tests/oracle/", "data/")  # held to no rule but that of machine paths
# Spelled in pieces, so that this file does not find itself.
MACHINE_PATH = re.compile(r"(^|[^\w.~}])/(" + "|".join(["wo" + "rk", "ro" + "ot", "fa" + "rm", "ho" + "me"]) + r")/\w")
UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b")
# A fenced block that names a file after its language, ```cpp taeda/x.h, must be a passage of that file.
QUOTE = re.compile(r"^```\w+ ([\w./-]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def tracked_files():
    """Paths of the tree, relative to its top: what git tracks, or in an exported tree every file outside build folders."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True)
    if listed.returncode == 0:
        paths = [path for path in listed.stdout.split("\0") if path]
    else:
        paths = [file.relative_to(ROOT).as_posix() for file in ROOT.rglob("*") if file.is_file()]
        paths = [path for path in paths if not path.startswith(("build", "."))]
    return [path for path in sorted(set(paths)) if (ROOT / path).is_file()]


def is_code(path):
    name = path.rsplit("/", 1)[-1]
    return Path(path).suffix in CODE or name in {"run", "CMakeLists.txt"}


def check_file(path, host):
    """The faults of one file, as messages."""
    file = ROOT / path
    if path.startswith(DATA) and file.suffix not in CODE:
        return
    if file.stat().st_size > MAX_BYTES:
        yield f"{path}: larger than {MAX_BYTES >> 20} MiB; keep large data out of the tree"
        return
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line):
            yield f"{path}:{number}: a path of some machine; use a relative path or a variable: {line.strip()[:80]}"
        if len(host) > 5 and host in line:
            yield f"{path}:{number}: the name of a machine"
        if is_code(path) and UNFINISHED.search(line):
            yield f"{path}:{number}: an unfinished mark; finish it or file an issue: {line.strip()[:80]}"
    if is_code(path) and lines:
        if len(lines) > MAX_LINES:
            yield f"{path}: {len(lines)} lines; split it, {MAX_LINES} is the most"
        if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(lines[:60]):
            yield f"{path}: begin with a comment that says what the file is and a line SPDX-License-Identifier: Apache-2.0"
    if file.suffix == ".md":
        for quoted, passage in QUOTE.findall(text):
            if not (ROOT / quoted).is_file() or passage.strip("\n") not in (ROOT / quoted).read_text():
                yield f"{path}: the passage of {quoted} beginning {passage.splitlines()[0][:60]!r} is not in that file (any more)"
        for target in LINK.findall(re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
            local = target.split("#")[0]
            if local and "://" not in target and not (file.parent / local).exists():
                yield f"{path}: a link to {target}, which does not exist"


def check_library(library):
    """libtaeda must run nothing of ours when it is loaded. Two entries of .init_array are the compiler's own: frame_dummy, and what finds
    out the processor's features where __builtin_cpu_supports is used."""
    sections = subprocess.run(["readelf", "-SW", library], capture_output=True, text=True, check=True).stdout
    symbols = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\.init_array\s+INIT_ARRAY\s+\w+\s+\w+\s+(\w+)", sections)
    entries = int(found.group(1), 16) // 8 if found else 0
    own = entries - sum(bool(re.search(rf" t {name}$", symbols, re.MULTILINE)) for name in ("frame_dummy", "__cpu_indicator_init"))
    print(f"{library}: {own} static constructors")
    return own > 0


def main():
    if sys.argv[1:2] == ["--library"]:
        return check_library(sys.argv[2])
    host = socket.gethostname()
    paths = tracked_files()
    faults = [fault for path in paths for fault in check_file(path, host)]
    for fault in faults:
        print(f"[house] {fault}")
    print(f"{len(paths)} files, {len(faults)} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
