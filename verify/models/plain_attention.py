"""torch's MultiheadAttention in plain steps while a model is traced: it folds inputs into heads otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import MethodType
from typing import Any


@contextmanager
def plainly(torch: Any, model: Any) -> Iterator[None]:
    """Self-attention over (inputs, positions, features) as linear, heads, softmax and linear; restored afterwards.

    Modules with keys or values of other sizes, extra biases, or positions along the first axis are left as they are.
    """
    changed = [m for m in model.modules() if type(m) is torch.nn.MultiheadAttention and _usual(m)]
    for module in changed:
        module.forward = MethodType(_attend(torch), module)
    try:
        yield
    finally:
        for module in changed:
            del module.forward


def _usual(module: Any) -> bool:
    same = module._qkv_same_embed_dim and module.bias_k is None and not module.add_zero_attn
    return bool(same and module.batch_first and "forward" not in vars(module))


def _attend(torch: Any) -> Any:
    original = torch.nn.MultiheadAttention.forward

    def forward(
        self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True,
        is_causal=False,
    ):  # fmt: skip
        if not (query is key is value) or key_padding_mask is not None or query.ndim != 3:
            return original(
                self, query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal
            )
        inputs, places, width = query.shape
        mixed = torch.nn.functional.linear(query, self.in_proj_weight, self.in_proj_bias)
        split = (part.view(inputs, places, self.num_heads, -1).transpose(1, 2) for part in mixed.chunk(3, -1))
        allowed = ~attn_mask if attn_mask is not None and attn_mask.dtype == torch.bool else attn_mask
        attended = torch.nn.functional.scaled_dot_product_attention(
            *split, attn_mask=allowed, dropout_p=self.dropout if self.training else 0.0,
        )  # fmt: skip
        return self.out_proj(attended.transpose(1, 2).reshape(inputs, places, width)), None

    return forward
