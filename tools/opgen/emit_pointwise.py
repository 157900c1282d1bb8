# SPDX-License-Identifier: Apache-2.0
"""Doors, gradient tables, boxed calls and registry rows of the operators defined in taeda/ops/pointwise/*.h."""
import copy

from . import schema as sch
from .emit_common import BANNER, boxed_call, c_string, has, inplace_schema, names, op_info, params

ATTRIBUTE_CODE, RESULT_CODE = 16, 32
ATTRIBUTE_TYPES = ("Scalar", "int", "float", "bool")


def flag(d, name):
    """A flag of the definition; empty when the family's default holds."""
    return d.flags.get(name, "").strip('"')


def family_default(d, name):
    scalar_other = {"BinaryArith", "Compare", "Bitwise"}
    if name == "scalar_overloads":
        return "other" if scalar_other & set(d.bases) else ""
    if name == "inplace":
        return "false" if "UnaryBool" in d.bases else "true"
    return ""


def setting(d, name):
    return flag(d, name) if name in d.flags else family_default(d, name)


def renamed(schema, name):
    """The same schema under an alias."""
    s = copy.deepcopy(schema)
    s.name = name
    s.text = name + schema.text[len(schema.name):]
    return s


def overloads(d):
    """The schemas of the operator and of its aliases: all tensors, then one with each allowed argument as a number."""
    own = own_overloads(d)
    return own + [renamed(s, alias) for alias in flag(d, "aliases").split() for s in own]


def function_only(schema):
    """Names of the special functions are neither methods nor in-place forms."""
    return schema.name.startswith("special_")


def scalar_overload(args, name):
    """Each overload of a name has a name of its own."""
    if args[0].name == "condition":
        return {"self": "ScalarSelf", "other": "ScalarOther"}[name]
    return {"self": "Scalar_self", "x": "x_scalar", "n": "n_scalar"}.get(name, "Scalar")


def own_overloads(d):
    result = [d.schema]
    for name in setting(d, "scalar_overloads").split():
        s = copy.deepcopy(d.schema)
        for a in s.args:
            if a.name == name:
                a.type = "Scalar"
        s.overload = scalar_overload(d.schema.args, name)
        head = s.name + "." + s.overload
        body = d.schema.text[d.schema.text.index("("):].replace(f"Tensor {name}", f"Scalar {name}", 1)
        s.text = head + body
        result.append(s)
    if len(result) > 1 and not d.schema.overload:
        result[0] = copy.deepcopy(d.schema)
        result[0].overload = "Tensor"
        result[0].text = result[0].name + ".Tensor" + d.schema.text[d.schema.text.index("("):]
    return result


def has_inplace(d, s):
    return setting(d, "inplace") == "true" and d.schema.args[0].name == "self" and not function_only(s)


def has_method(d, s):
    return has(d, "method") and s.args[0].name == "self" and s.args[0].type == "Tensor" and not function_only(s)


def is_attribute(d, a):
    original = {x.name: x.type for x in d.schema.args}
    return original[a.name] in ATTRIBUTE_TYPES


def operands_and_attributes(d, s):
    operands = [a.name for a in s.args if not is_attribute(d, a)]
    attributes = [a.name for a in s.args if is_attribute(d, a)]
    text = f"  const pointwise::Operand in[] = {{{', '.join(operands)}}};\n"
    if attributes:
        text += f"  const Scalar attrs[] = {{{', '.join(attributes)}}};\n"
    else:
        text += "  const Scalar* const attrs = nullptr;\n"
    return text


def gradient_rows(d):
    inputs = [a.name for a in d.schema.args if not is_attribute(d, a)]
    attributes = [a.name for a in d.schema.args if is_attribute(d, a)]
    rows, bodies = [], []
    for name in inputs:
        if name not in d.grads:
            rows.append("{}")
            continue
        if name in d.identity:
            rows.append("{-2}")
            continue
        codes, values = [], []
        for _type, p in d.grads[name]:
            if p in inputs:
                codes.append(inputs.index(p))
            elif p in attributes:
                codes.append(ATTRIBUTE_CODE + attributes.index(p))
            elif p == "result":
                codes.append(RESULT_CODE)
            else:
                d.fail(f"gradient parameter '{p}' is neither an argument nor `result`")
            mask = "MaskOf<" in _type
            values.append(f"a[{len(codes) - 1}]" + (".mask()" if mask else ""))
        kernel = f"static_cast<int>(cpu::PointwiseKernelId::k{d.struct}_grad_{name})"
        if flag(d, "scalar_grad_only") == "true":
            formula = "nullptr"
        else:
            formula = f"formula_{d.struct}_{name}"
            bodies.append(f"pointwise::TensorValue {formula}([[maybe_unused]] const pointwise::TensorValue* a) {{ return "
                          f"definitions::{d.struct}::grad_{name}<pointwise::TensorValue>({', '.join(values)}); }}")
        rows.append(f"{{{kernel}, {len(codes)}, {{{', '.join(map(str, codes)) or '0'}}}, {formula}}}")
    return rows, bodies


def gradient_text(d):
    if d.grads:
        return "yes"
    if "no_grad" in d.flags:
        return "none: " + flag(d, "no_grad")
    if {"Compare", "UnaryBool", "Bitwise"} & set(d.bases) or "ResultRule::kBool" in d.flags.get("rule", "") \
            or d.flags.get("floats") == "false":
        return "none: the result is not floating"
    d.fail("has no gradient: define grad_<argument>(…) or state `no_grad = \"reason\"`")


def doors(d, table, rows, boxed):
    out = []
    op = f"op_{d.struct}"
    gradient = gradient_text(d)

    def add_row(s, kind):
        box = f"{d.struct}_{len(rows)}_boxed"
        boxed.append(f"static Value {box}(const Value* args) {{ {boxed_call('taeda::' + s.name, s)} }}")
        rows.append(op_info(d, s, box, kind, gradient))
        return f"{table}[{len(rows) - 1}]"

    for s in overloads(d):
        info = add_row(s, "kPointwise")
        setup = operands_and_attributes(d, s)
        plist = params(s.args, False)
        rest = ", ".join(["*this"] + [a.name for a in s.args[1:]])
        method = has_method(d, s)
        out.append(f"Tensor {s.name}({plist}) {{\n{setup}  return pointwise::run({op}, {info}, in, attrs);\n}}")
        if method:
            out.append(f"Tensor Tensor::{s.name}({params(s.args, False, True)}) const {{ return taeda::{s.name}({rest}); }}")
        out.append(f"Tensor& {s.name}_out(Tensor& out, {plist}) {{\n{setup}"
                   f"  return pointwise::run_out({op}, {info}, out, in, attrs);\n}}")
        if has_inplace(d, s) and s.args[0].type == "Tensor":
            si = inplace_schema(s)
            info = add_row(si, "kInplace")
            out.append(f"Tensor& {si.name}({plist}) {{\n{setup}  return pointwise::run_inplace({op}, {info}, self, in, attrs);\n}}")
            out.append(f"Tensor& Tensor::{si.name}({params(s.args, False, True)}) const {{ return taeda::{si.name}({rest}); }}")
    return out


def op_constant(d):
    attributes = [a for a in d.schema.args if is_attribute(d, a)]
    inputs = [a for a in d.schema.args if not is_attribute(d, a)]
    rows, bodies = gradient_rows(d)
    label = "".join(p[:1].upper() + p[1:] for p in d.schema.name.strip("_").split("_"))
    ref = f"definitions::{d.struct}"
    scalars = sum(1 << i for i, a in enumerate(attributes) if a.type == "Scalar")
    text = (f"constexpr pointwise::Op op_{d.struct} = {{{c_string(d.schema.name)}, {c_string(label + 'Backward0')}, "
            f"static_cast<int>(cpu::PointwiseKernelId::k{d.struct}), {ref}::rule, {ref}::bools, {ref}::ints, {ref}::floats, {ref}::halves, "
            f"{len(inputs)}, {len(attributes)}, {{{', '.join(rows)}}}, {ref}::int_divisor, {ref}::selects, {ref}::numbers, "
            f"{ref}::narrow_numbers, {ref}::adds_scaled, {scalars}}};")
    return bodies + [text]


def emit_file(stem, found):
    table = f"op_infos_pointwise_{stem}"
    rows, boxed, constants, door_text = [], [], [], []
    for d in found:
        constants += op_constant(d)
        door_text += doors(d, table, rows, boxed)
    out = [BANNER, '#include "taeda/ops/pointwise_value.h"', '#include "taeda/ops/pointwise_engine.h"',
           '#include "cpu/pointwise_ids.h"\n',
           "namespace taeda {", f"extern const OpInfo {table}[];", "namespace {",
           "namespace definitions {", "using pointwise::MaskOf;", f'#include "taeda/ops/pointwise/{stem}.h"', "}  // namespace definitions"]
    out += constants
    out.append("}  // namespace")
    out += door_text
    out += boxed
    out.append(f"extern constinit const OpInfo {table}[] = {{\n  " + ",\n  ".join(rows) + "};")
    out.append("}  // namespace taeda\n")
    return [(f"pointwise_{stem}.cpp", "\n".join(out), table, len(rows))]


def declarations(d):
    functions, methods = [], []
    doc = "".join(f"/// {line}\n" for line in d.doc.splitlines())
    for s in overloads(d):
        functions.append(f"{doc}TAEDA_API Tensor {s.name}({params(s.args, True)});")
        functions.append(f"TAEDA_API Tensor& {s.name}_out(Tensor& out, {params(s.args, True)});")
        if has_method(d, s):
            methods.append(f"  Tensor {s.name}({params(s.args, True, True)}) const;")
        if has_inplace(d, s) and s.args[0].type == "Tensor":
            functions.append(f"TAEDA_API Tensor& {s.name}_({params(s.args, True)});")
            methods.append(f"  Tensor& {s.name}_({params(s.args, True, True)}) const;")
    return functions, methods


def value_functions(pointwise):
    """Operators of tensors only, as functions of TensorValue for use inside formulas."""
    lines = [BANNER]
    for found in pointwise.values():
        for d in found:
            if any(a.type != "Tensor" or a.name == "condition" for a in d.schema.args) or not has(d, "function"):
                continue
            name = d.schema.name.removeprefix("special_")
            plist = ", ".join(f"const TensorValue& {a.name}" for a in d.schema.args)
            call = ", ".join(f"{a.name}.tensor()" for a in d.schema.args)
            lines.append(f"inline TensorValue {name}({plist}) {{ return TensorValue(taeda::{d.schema.name}({call})); }}")
    return "\n".join(lines) + "\n"
