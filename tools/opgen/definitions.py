# SPDX-License-Identifier: Apache-2.0
"""Reads operator definitions (structs with a `schema`) from taeda/ops/**/*.{h,cpp}."""
import re
from dataclasses import dataclass, field
from pathlib import Path

from . import schema as sch


@dataclass
class Definition:
    struct: str
    bases: list[str]
    schema: sch.Schema
    doc: str
    file: Path
    line: int
    flags: dict[str, str] = field(default_factory=dict)
    # grad function name (argument, or "grads") -> list of (type, name) parameters
    grads: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    apply: list[str] = field(default_factory=list)
    methods: set[str] = field(default_factory=set)
    identity: set[str] = field(default_factory=set)  # arguments whose local derivative is 1

    @property
    def composite(self):
        return "Composite" in self.bases

    def fail(self, text):
        raise sch.SchemaError(f"{self.file}:{self.line}: operator {self.struct}: {text}")


def matching_brace(text, start):
    """Index of the brace closing the one at `start`; knows strings, characters and comments."""
    depth, i = 0, start
    while i < len(text):
        c = text[i]
        if text.startswith("//", i):
            i = text.find("\n", i)
            if i < 0:
                break
        elif c == '"':
            i += 1
            while text[i] != '"':
                i += 2 if text[i] == "\\" else 1
        elif c == "'" and not text[i - 1].isalnum():
            i += 1
            while text[i] != "'":
                i += 2 if text[i] == "\\" else 1
        elif c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
            if depth == 0:
                return i
        i += 1
    raise sch.SchemaError("unbalanced braces")


def parse_params(text):
    params = []
    for part in sch.split_top(re.sub(r"<([^<>]*(?:<[^<>]*>)?[^<>]*)>", lambda m: "<" + m[1].replace(",", ";") + ">", text)):
        part = part.replace(";", ",").split("=")[0].strip()
        if not part:
            continue
        m = re.fullmatch(r"(.*?[\s&*>])(\w+)", part, re.S)
        if m:
            params.append((" ".join(m[1].split()), m[2]))
        else:
            params.append((part, ""))  # unnamed
    return params


STRUCT = re.compile(r"((?:^[ \t]*///[^\n]*\n)*)^struct (\w+)(?: final)?(?:\s*:\s*([\w:<>, ]+?))?\s*\{", re.M)
FLAG = re.compile(r"static constexpr (?:auto|bool|int|ResultRule|Onnx|Autocast) (\w+)(?:\s*=\s*|\s*(?=\{))(.*?);", re.S)
FUNCTION = re.compile(r"static\s+((?:[\w:<>,&\s]|\b)+?)\s+&?(\w+)\s*\(([^{};]*)\)\s*[{;]", re.S)


def read_file(path):
    text = path.read_text()
    found = []
    for m in STRUCT.finditer(text):
        start = m.end() - 1
        body = text[start:matching_brace(text, start) + 1]
        sm = re.search(r"schema\s*=\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+);", body)
        if not sm:
            if "auto schema" in body:
                raise sch.SchemaError(f"{path}: the schema of {m[2]} is not one string literal")
            continue
        schema = sch.parse("".join(re.findall(r"\"((?:[^\"\\]|\\.)*)\"", sm[1])).replace('\\"', '"'))
        doc = "\n".join(line.strip()[3:].strip() for line in m[1].splitlines())
        bases = [b.strip().removeprefix("public ").split("<")[0] for b in (m[3] or "").split(",") if b.strip()]
        d = Definition(m[2], bases, schema, doc, path, text.count("\n", 0, m.start()) + 1)
        clean = re.sub(r"//[^\n]*", "", body)
        for fm in FLAG.finditer(clean):
            d.flags[fm[1]] = fm[2].strip()
        for fm in FUNCTION.finditer(clean):
            name, params = fm[2], parse_params(fm[3])
            d.methods.add(name)
            if name == "apply":
                d.apply = [p[1] for p in params]
            elif name == "grads" or name.startswith("grad_"):
                d.grads[name.removeprefix("grad_")] = params
        d.identity = set(re.findall(r"grad_(\w+)\(\)\s*\{\s*return V\(1(?:\.0)?\);\s*\}", clean))
        found.append(d)
    return found


def read_all(src):
    """Two dicts: file stem -> definitions, for pointwise headers and for other operator sources."""
    ops = Path(src) / "taeda" / "ops"
    pointwise = {p.stem: read_file(p) for p in sorted((ops / "pointwise").glob("*.h"))}
    general = {}
    for p in sorted(ops.rglob("*.cpp")):
        definitions = read_file(p)
        if definitions:
            if p.stem in general:
                raise sch.SchemaError(f"two operator sources named {p.stem}.cpp")
            general[p.stem] = definitions
    return pointwise, general
