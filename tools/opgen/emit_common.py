# SPDX-License-Identifier: Apache-2.0
"""What the emitters share: signatures, declarations, boxed calls and registry rows."""
from . import schema as sch

BANNER = "// Generated from the operator definitions by tools/opgen. Do not edit.\n// SPDX-License-Identifier: Apache-2.0\n"
FACTORY = ["dtype", "layout", "device", "pin_memory"]
OPTIONS_DEFAULT = {"None": "{}", "4": "kLong"}  # by the default of `dtype`: with options that name no dtype, it is the default dtype's


def grouped_args(schema):
    """The arguments as C++ sees them: dtype, layout, device, pin_memory become one TensorOptions."""
    names = [a.name for a in schema.args]
    if not all(n in names for n in FACTORY):
        return list(schema.args)
    first = names.index("dtype")
    out = [a for a in schema.args[:first]]
    out.append(sch.Arg("TensorOptions", "options", OPTIONS_DEFAULT[schema.args[first].default], True))
    out += schema.args[first + 4:]
    return out


def is_factory(schema):
    return any(a.type == "TensorOptions" for a in grouped_args(schema))


def out_args(args):
    """The arguments of the out= form after the output, whose dtype takes the place of options."""
    return [a for a in args if a.type != "TensorOptions"]


def params(args, defaults, skip_self=False):
    out = []
    seen_default = all(a.default is not None for a in args[:0])
    # A C++ default is only possible when all later parameters have one.
    tail_ok = [False] * len(args)
    ok = True
    for i in range(len(args) - 1, -1, -1):
        ok = ok and args[i].default is not None
        tail_ok[i] = ok
    for i, a in enumerate(args):
        if skip_self and i == 0:
            continue
        text = f"{sch.param_type(a.type)} {a.name}"
        if defaults and tail_ok[i]:
            text += " = " + sch.default_value(a)
        out.append(text)
    return ", ".join(out)


def names(args):
    return ", ".join(a.name for a in args)


def has(d, variant):
    variants = d.flags.get("variants", "").strip('"')
    if variants:
        return variant in variants.split()
    if variant == "function":
        return not d.schema.inplace or d.flags.get("function", "") == "true"
    return bool(d.schema.args) and d.schema.args[0].name == "self" and d.schema.args[0].type == "Tensor"


def boxed_call(function, schema, first=""):
    """Body of a `Value (*)(const Value*)` that calls `function`, an out= form when a first argument is given."""
    args = grouped_args(schema)
    parts = [first] if first else []
    index = 0
    for a in args:
        if a.type == "TensorOptions":
            if not first:
                parts.append(f"detail::options_from(args + {index})")
            index += 4
        else:
            parts.append(sch.from_value(a.type, f"args[{index}]"))
            index += 1
    call = f"{function}({', '.join(parts)})"
    if sch.return_type(schema) == "void":
        return f"{call}; return Value();"
    return f"return Value({call});"


def boxed_out_form(schema):
    """A row for the table of `name_out` functions: name, overload, and a call that takes the output and all arguments."""
    call = boxed_call(f"taeda::{schema.name}_out", schema, "out")
    return (f"{{{c_string(schema.name)}, {c_string(schema.overload)}, "
            f"[](Tensor& out, [[maybe_unused]] const Value* args) {{ {call} }}}}")


def boxed_values(schema):
    """The arguments of a C++ call as a list of Values, in schema order."""
    parts = []
    for a in grouped_args(schema):
        if a.type == "TensorOptions":
            parts.append("Value(options.dtype_opt()), Value(options.layout_opt()), Value(options.device_opt()), "
                         "Value(options.pinned_memory_opt())")
        else:
            parts.append(f"Value({a.name})")
    return "{" + ", ".join(parts) + "}"


def c_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def op_info(d, schema, boxed, kind, gradient, inplace_of=""):
    onnx = d.flags.get("onnx", "{}")
    onnx = onnx if onnx.startswith("{") else "{" + onnx.split("{", 1)[-1] if "{" in onnx else "{}"
    return ("{" + ", ".join([c_string(schema.name), c_string(schema.overload), c_string(schema.text), boxed,
                             f"OpKind::{kind}", c_string(gradient), c_string(d.doc), "Onnx" + onnx,
                             c_string(d.flags.get("autocast", "").strip('"')), c_string(d.file.stem)]
                            + (["nullptr", c_string(d.flags["shape_from"].strip('"'))] if "shape_from" in d.flags else [])) + "}")


def inplace_schema(schema):
    """The schema of the derived `name_` form."""
    text = schema.text.replace(schema.name, schema.name + "_", 1).replace("Tensor self", "Tensor(a!) self", 1)
    head, _ = text.rsplit(" -> ", 1)
    return sch.parse(head + " -> Tensor(a!)")
