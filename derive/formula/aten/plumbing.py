"""Operations that hand a value on, and tensors filled with one number."""

FORMULAS = {
    "clone": ("x", "x"),
    "contiguous": ("x", "x"),
    "detach": ("x", "x"),
    "alias": ("x", "x"),
    "lift_fresh_copy": ("x", "x"),
    "to": ("x", "x"),
    "_to_copy": ("x", "x"),
    "type_as": ("x y", "x"),
    "expand": ("x size", "x"),
    "expand_as": ("x y", "x"),
    "dropout": ("x share training", "x"),
    "zeros_like": ("x", "0"),
    "ones_like": ("x", "1"),
    "full_like": ("x value", "value"),
    "full": ("size value", "value"),
    "scalar_tensor": ("x", "x"),
}
