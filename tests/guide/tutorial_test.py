#!/usr/bin/env python3
"""Does what docs/tutorial.md says, in order, in a folder of its own: files are written under the names they give, shell snippets are run.

tutorial_test.py SOURCE PREFIX: the project's tree, and the folder in which it is installed.
SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SNIPPET = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
KNOWN = {"sh", "cpp", "cmake"}


def main():
    source, prefix = (Path(argument).resolve() for argument in sys.argv[1:3])
    snippets = SNIPPET.findall((source / "docs" / "tutorial.md").read_text())
    unknown = {language for language, _ in snippets} - KNOWN
    if unknown or len(snippets) < 10:
        sys.exit(f"[tutorial] snippets must be {sorted(KNOWN)}, and ten at least: got {sorted(unknown)} and {len(snippets)}")
    environment = dict(os.environ, PATH=f"{prefix / 'bin'}:{os.environ['PATH']}", CMAKE_PREFIX_PATH=str(prefix), TAEDA_SOURCE=str(source))
    for name in ("CXXFLAGS", "LDFLAGS", "CPPFLAGS", "CMAKE_CXX_COMPILER_LAUNCHER"):
        environment.pop(name, None)
    with tempfile.TemporaryDirectory(prefix="taeda_tutorial_") as folder:
        for number, (language, text) in enumerate(snippets, 1):
            if language == "sh":
                start = time.time()
                print(f"== snippet {number}\n{text}", flush=True)
                subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=environment, check=True)
                print(f"== {time.time() - start:.1f} s", flush=True)
                continue
            name = "CMakeLists.txt"
            if language == "cpp":
                name = re.match(r"// (\w+\.cpp): ", text).group(1)
            (Path(folder) / name).write_text(text)
        # What the page says will be there.
        for path in ("digits/report.html", "digits/checkpoints/best.safetensors", "digits/config.toml", "digits/log.csv", "prices.jsonl",
                     "digits-run/report.html", "seven.png"):
            if not (Path(folder) / path).is_file():
                sys.exit(f"[tutorial] {path} must be there at the end: it is not")


if __name__ == "__main__":
    main()
