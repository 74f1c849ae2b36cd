"""The activations of torch.nn.functional that stay whole in an exported graph."""

FORMULAS = {
    "relu": ("x", "max(x, 0)"),
    "relu6": ("x", "min(max(x, 0), 6)"),
    "leaky_relu": ("x slope=0.01", "max(x, 0) + slope*min(x, 0)"),
    "prelu": ("x slope", "max(x, 0) + slope*min(x, 0)"),
    "_prelu_kernel": ("x slope", "max(x, 0) + slope*min(x, 0)"),
    "rrelu": ("x lower=1/8 upper=1/3 training=0", "max(x, 0) + (lower + upper)/2*min(x, 0)"),
    "elu": ("x alpha=1 scale=1 input_scale=1", "scale*x if x > 0 else scale*alpha*(exp(input_scale*x) - 1)"),
    "celu": ("x alpha=1", "x if x > 0 else alpha*(exp(x/alpha) - 1)"),
    "selu": (
        "x",
        "1.0507009873554804934193349852946*(x if x > 0 else 1.6732632423543772848170429916717*(exp(x) - 1))",
    ),
    "gelu": ("x", "x*Phi(x)"),
    "gelu_tanh": ("x", "0.5*x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x**3)))"),
    "silu": ("x", "x*sigmoid(x)"),
    "mish": ("x", "x*tanh(softplus(x))"),
    "softplus": ("x beta=1 threshold=20", "softplus(beta*x)/beta"),
    "log_sigmoid": ("x", "-softplus(-x)"),
    "hardtanh": ("x low=-1 high=1", "min(max(x, low), high)"),
    "hardsigmoid": ("x", "min(max(x/6 + 1/2, 0), 1)"),
    "hardswish": ("x", "x*min(max(x + 3, 0), 6)/6"),
    "hardshrink": ("x cut=1/2", "x if abs(x) > cut else 0"),
    "softshrink": ("x cut=1/2", "max(x - cut, 0) + min(x + cut, 0)"),
    "threshold": ("x cut value", "x if x > cut else value"),
}
