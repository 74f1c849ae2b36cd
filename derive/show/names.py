"""LaTeX of the names of symbols; loads no SymPy."""

from __future__ import annotations

import unicodedata

RESERVED = {
    "q": "q", "q1": "q_{1}", "q2": "q_{2}", "c": "c", "K": "K", "Delta": r"\Delta", "x": "x", "z": "z", "u": "u",
    "v": "v", "sigma_w": r"\sigma_{w}", "sigma_b": r"\sigma_{b}",
}  # fmt: skip
GREEK = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "pi",
    "rho",
    "sigma",
    "tau",
    "upsilon",
    "phi",
    "chi",
    "psi",
    "omega",
    "Gamma",
    "Theta",
    "Lambda",
    "Xi",
    "Pi",
    "Sigma",
    "Upsilon",
    "Psi",
    "Omega",
]


def symbol_name(name: str) -> str:
    r"""LaTeX of a parameter's name: a -> a, alpha -> \alpha, slope_1 -> \mathrm{slope}_{1}; no macro of a user's."""
    if name in RESERVED:
        return RESERVED[name]
    head, _, tail = name.strip("_").partition("_")
    text = _letters(head) or r"\mathrm{p}"
    if not tail and len(head) > 1 and head[:-1].isalpha() and head[-1].isdigit() and head[0].isascii():
        text, tail = _letters(head[:-1]), head[-1]
    return f"{text}_{{{_letters(tail)}}}" if tail else text


def _letters(text: str) -> str:
    plain = "".join(_ascii(letter) for letter in text)
    if plain in GREEK:
        return "\\" + plain
    if len(plain) <= 1 or plain.isdigit():
        return plain
    return rf"\mathrm{{{plain}}}"


def _ascii(letter: str) -> str:
    """A letter LaTeX can print in math mode: Greek letters by name, others by code point."""
    if letter.isascii() and letter.isalnum():
        return letter
    if letter == "_":
        return r"\_"
    words = unicodedata.name(letter, "").split()
    if words[:1] == ["GREEK"] and "LETTER" in words:
        name = words[words.index("LETTER") + 1].lower().replace("lamda", "lambda")
        name = name.capitalize() if "CAPITAL" in words else name
        if name in GREEK:
            return name
    return f"u{ord(letter):04x}"
