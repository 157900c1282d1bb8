# SPDX-License-Identifier: Apache-2.0
"""The operator generator: reads the definitions under taeda/ops and writes what derives from them.

Usage: python3 tools/opgen/main.py --src SOURCE_DIR --out OUTPUT_DIR
Writes, below OUTPUT_DIR/taeda/ops/generated: functions.h, tensor_methods.inc, one .inc for each operator source, the doors
of pointwise operators, the registry, and out_forms.inc, the out= forms as a table for tests. Files whose content does not change are left alone.
"""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from opgen import definitions, emit_general, emit_namespaces, emit_pointwise, schema  # noqa: E402
from opgen.emit_common import BANNER, boxed_out_form  # noqa: E402

try:
    from opgen import kernels
except ImportError:
    kernels = None


_written = set()


def write(path, text):
    _written.add(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def registry(tables):
    lines = [BANNER, '#include "taeda/ops/registry.h"\n', "namespace taeda {"]
    lines += [f"extern const OpInfo {table}[];" for table, _ in tables]
    lines.append("namespace detail {\nextern const OpTable op_tables[] = {")
    lines += [f"  {{{table}, {count}}}," for table, count in tables]
    lines.append("};")
    lines.append(f"extern const size_t op_table_count = {len(tables)};")
    lines.append("}  // namespace detail\n}  // namespace taeda\n")
    return "\n".join(lines)


def check_unique(definitions_by_file):
    """Two definitions of one name and overload would only be noticed by the linker."""
    seen = {}
    for found in definitions_by_file.values():
        for d in found:
            key = (d.schema.name, d.schema.overload)
            if key in seen:
                d.fail(f"{'.'.join(filter(None, key))} is defined in {seen[key].file} already")
            seen[key] = d


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--src", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    out = Path(options.out) / "taeda" / "ops" / "generated"
    pointwise, general = definitions.read_all(options.src)
    check_unique(general)
    functions, methods, tables, out_forms = [], [], [], []
    for stem, found in general.items():
        text, table, count = emit_general.emit_file(stem, found)
        write(out / f"{stem}.inc", text)
        tables.append((table, count))
        for d in found:
            f, m = emit_general.declarations(d)
            functions += f
            methods += m
            if emit_general.has_out(d):
                out_forms.append(boxed_out_form(d.schema))
    for stem, found in pointwise.items():
        for name, text, table, count in emit_pointwise.emit_file(stem, found):
            write(out / name, text)
            tables.append((table, count))
        for d in found:
            f, m = emit_pointwise.declarations(d)
            functions += f
            methods += m
            out_forms += [boxed_out_form(s) for s in emit_pointwise.overloads(d)]
    write(out / "functions.h", BANNER + '#pragma once\n#include <limits>\n#include "taeda/core/tensor.h"\n\nnamespace taeda {\n'
          + "\n".join(functions) + "\n}  // namespace taeda\n")
    header, source = emit_namespaces.emit(functions)
    write(out / "namespaces.h", header)
    write(out / "namespaces.cpp", source)
    write(out / "tensor_methods.inc", BANNER + "\n".join(methods) + "\n")
    write(out / "pointwise_value_functions.inc", emit_pointwise.value_functions(pointwise))
    write(out / "out_forms.inc", BANNER + ",\n".join(out_forms) + "\n")
    write(out / "registry_tables.cpp", registry(tables))
    if kernels is not None:
        kernels.generate(options.src, options.out)
    for stale in set(out.iterdir()) - _written:  # of a definition file that was renamed or removed
        stale.unlink()


if __name__ == "__main__":
    try:
        main()
    except schema.SchemaError as error:
        sys.exit(f"[opgen] {error}")
