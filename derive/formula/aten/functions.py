"""Elementary and special functions."""

SAME_NAME = ("exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
             "atanh", "erf", "erfc", "expm1", "log1p", "sigmoid", "sign", "abs")  # fmt: skip
LONG_NAMES = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
              "arctanh": "atanh", "absolute": "abs", "sgn": "sign", "special_expit": "sigmoid", "special_erf": "erf",
              "special_erfc": "erfc", "special_erfcx": "erfcx", "special_expm1": "expm1", "special_log1p": "log1p",
              "special_ndtr": "Phi"}  # fmt: skip

FORMULAS = {
    **{name: ("x", f"{name}(x)") for name in SAME_NAME},
    **{name: ("x", f"{short}(x)") for name, short in LONG_NAMES.items()},
    "exp2": ("x", "2**x"),
    "special_exp2": ("x", "2**x"),
    "log2": ("x", "log(x)/log(2)"),
    "log10": ("x", "log(x)/log(10)"),
    "sinc": ("x", "sinc(pi*x)"),
    "special_sinc": ("x", "sinc(pi*x)"),
    "special_log_ndtr": ("x", "log(Phi(x))"),
    "atan2": ("x y", "atan2(x, y)"),
    "arctan2": ("x y", "atan2(x, y)"),
    "logaddexp": ("x y", "y + softplus(x - y)"),
}
