# SPDX-License-Identifier: Apache-2.0
"""The namespaces linalg, special and fft: functions that forward to operators by their short names. Declared in a header and
defined in a source, so that programs do not compile some three hundred bodies."""
import re

from . import schema as sch
from .emit_common import BANNER

# Members of torch::special whose operator has no prefix: short name -> operator.
SPECIAL = {
    "gammaln": "lgamma", "gammainc": "igamma", "gammaincc": "igammac", "multigammaln": "mvlgamma", "polygamma": "polygamma",
    "psi": "digamma", "digamma": "digamma", "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "logsumexp": "logsumexp",
    "logit": "logit", "expit": "sigmoid", "exp2": "exp2", "expm1": "expm1", "xlogy": "xlogy", "i0": "i0", "log1p": "log1p",
    "round": "round", "sinc": "sinc", "softmax": "softmax", "log_softmax": "log_softmax",
}
DECLARATION = re.compile(r"TAEDA_API (.+?) (\w+)\((.*)\);$", re.S)


def arguments(params):
    """The parameter names of a declaration, in order."""
    found = []
    for part in sch.split_top(re.sub(r"<[^<>]*(?:<[^<>]*>)?[^<>]*>", "", params)):
        found.append(re.search(r"(\w+)\s*$", part.split("=")[0])[1])
    return found


def forward(result, short, name, params):
    """(declaration, definition)"""
    plain = ", ".join(part.split(" = ")[0].strip() for part in sch.split_top(params))
    return (f"TAEDA_API {result} {short}({params});",
            f"{result} {short}({plain}) {{ return ::taeda::{name}({', '.join(arguments(params))}); }}")


def emit(functions):
    """The texts of generated/namespaces.h and namespaces.cpp from all declarations of free functions."""
    declared = []
    for text in functions:
        m = DECLARATION.search(text)
        if m:
            declared.append(m.groups())
    names = {name for _, name, _ in declared}
    header = [BANNER + '#pragma once\n#include "taeda/ops/functions.h"\n']
    source = [BANNER + '#include "taeda/ops/generated/namespaces.h"\n']
    for space in ("linalg", "special", "fft"):
        lines = [forward(rt, name.removeprefix(space + "_"), name, params)
                 for rt, name, params in declared if name.startswith(space + "_")]
        if space == "special":
            for short, target in SPECIAL.items():
                if "special_" + short in names:
                    continue
                lines += [forward(rt, short + name.removeprefix(target), name, params)
                          for rt, name, params in declared if name in (target, target + "_out")]
        for out, part in ((header, 0), (source, 1)):
            out.append(f"namespace taeda::{space} {{\n" + "\n".join(line[part] for line in lines) +
                       f"\n}}  // namespace taeda::{space}\n")
    return "\n".join(header), "\n".join(source)
