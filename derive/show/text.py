"""Running text for pdflatex: specials escaped, letters outside ASCII as mathematics."""

from __future__ import annotations

import re
import unicodedata

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"$<$", ">": r"$>$", "|": r"$|$", '"': "''",
}  # fmt: skip
_SYMBOL = {
    "√": r"$\surd$", "·": r"$\cdot$", "×": r"$\times$", "−": r"$-$", "±": r"$\pm$", "∞": r"$\infty$", "≤": r"$\le$",
    "≥": r"$\ge$", "≠": r"$\ne$", "→": r"$\to$", "∈": r"$\in$", "ϕ": r"$\phi$", "φ": r"$\varphi$", "∥": r"$\parallel$",
    "–": "--", "—": "---", "’": "'", "‘": "`", "“": "``", "”": "''", "…": r"\dots{}", " ": "~", "∘": r"$\circ$",
    "ℝ": r"$\mathbb{R}$", "∂": r"$\partial$", "∫": r"$\int$", "Σ": r"$\Sigma$", "≈": r"$\approx$",
}  # fmt: skip


def escape(text: str) -> str:
    """Plain text as LaTeX text that pdflatex can set; letters of Latin alphabets with accents are kept."""
    return "".join(_letter(letter) for letter in text).replace(r"$-$$\infty$", r"$-\infty$")


def _letter(letter: str) -> str:
    if letter in _SPECIAL:
        return _SPECIAL[letter]
    if letter.isascii():
        return letter
    if letter in _SYMBOL:
        return _SYMBOL[letter]
    words = unicodedata.name(letter, "").split()
    if words[:1] == ["GREEK"] and "LETTER" in words:
        name = words[words.index("LETTER") + 1].lower().replace("lamda", "lambda")
        capital = name.capitalize()
        if "CAPITAL" not in words:
            return rf"$\{name}$" if name != "omicron" else "$o$"
        return (
            rf"$\{capital}$"
            if capital in ("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega")
            else f"${capital[0]}$"
        )
    plain = unicodedata.normalize("NFKD", letter)
    if words[:1] == ["SUPERSCRIPT"]:
        return f"$^{{{plain}}}$"
    if words[:1] == ["SUBSCRIPT"]:
        return f"$_{{{plain}}}$"
    if "LATIN" in words and ord(letter) < 0x180:
        return letter
    return rf"\texttt{{U+{ord(letter):04X}}}"


def mixed(text: str) -> str:
    """A sentence with $mathematics$: text escaped, mathematics kept."""
    parts = re.split(r"(\$[^$]*\$)", text)
    return "".join(part if part.startswith("$") else escape(part) for part in parts)


def code(text: str) -> str:
    """A formula as typed, which may break after an operator."""
    return re.sub(r"([*+/,)-]+)", r"\1\\allowbreak{}", escape(text))


def is_citation(source: str) -> bool:
    """Whether a source names a publication (it has a year); others are words such as `completing the square`."""
    return re.search(r"\b(1[89]|20)\d\d[a-z]?\b", source) is not None


def slug(source: str) -> str:
    """A citation key for a source: `Price 1958, IRE ...` -> `eoc:price1958`."""
    head = re.match(r"(.*?\b(?:1[89]|20)\d\d[a-z]?)\b", source)
    words = re.findall(r"[a-z0-9]+", unicodedata.normalize("NFKD", (head.group(1) if head else source[:40])).lower())
    return "eoc:" + "".join(word for word in words if word not in ("and", "et", "al", "the"))


SPELLINGS = (
    ("sigma_w^2", "σ_w²", r"\sigma_w^2"),
    ("sigma_b^2", "σ_b²", r"\sigma_b^2"),
    ("sigma_w", "σ_w", r"\sigma_w"),
    ("sigma_b", "σ_b", r"\sigma_b"),
    ("chi(q)", "χ(q)", r"\chi(q)"),
    ("chi", "χ", r"\chi"),
    ("V(q)", "V(q)", "V(q)"),
)
"""(as reasons spell it, for terminals, in LaTeX); longer ones first."""
_SPELLED = re.compile("|".join(rf"(?<![\w$\\]){re.escape(word)}(?!\w)" for word, _, _ in SPELLINGS))


def greek(text: str) -> str:
    """A reason with its symbols as letters: sigma_w^2 -> σ_w²."""
    return _SPELLED.sub(lambda found: next(plain for word, plain, _ in SPELLINGS if word == found[0]), text)


def with_math(text: str) -> str:
    """A reason with its symbols as $mathematics$ for pages."""
    return _SPELLED.sub(lambda found: f"${next(tex for word, _, tex in SPELLINGS if word == found[0])}$", text)
