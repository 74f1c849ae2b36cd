"""LaTeX lines to MathML; what the converter does not know is an error, not garbage on the page."""

from __future__ import annotations

import re

from derive.records import EocError

_FLAT_BRACKETS = re.compile(r"\\left\(([^()\\]*(?:\\(?!left|right|frac|sqrt|begin)[a-zA-Z]+[^()\\]*)*)\\right\)")
"""Brackets about one line of text, which need not stretch."""
_FUNCTION_AFTER_FACTOR = re.compile(r"([\w})]) (\\(?:arcsin|arccos|arctan|sin|cos|tanh|ln|max|min|text)\b)")
_UPRIGHT = re.compile(r"\\(?:operatorname|mathrm)\{([A-Za-z0-9]{2,})\}")
_PRIME = re.compile(r"<msup>(<mi>[^<]*</mi>)<mi>&#x02032;</mi></msup>")
"""The prime character is raised already; as a superscript it looks like an accent."""
_BOLD_ONE = "\N{MATHEMATICAL BOLD DIGIT ONE}"


def mathml(latex: str, display: str = "inline") -> str:
    """MathML of one line of LaTeX. Raises EocError where a macro or an alignment mark would leak into the page."""
    from latex2mathml.converter import convert

    text = latex.replace(r"\mathbf{1}", _BOLD_ONE).replace(r"\operatorname{\mathbb{E}}", r"\mathbb{E}")
    text = re.sub(r"\\mathsf\{([A-Z])\}", r"\\mathrm{\1}", text)
    text = _UPRIGHT.sub(r"\\text{\1}", text)  # letter by letter and slanted otherwise
    text = text.replace(r"\begin{smallmatrix}", r"\begin{matrix}").replace(r"\end{smallmatrix}", r"\end{matrix}")
    text = _FLAT_BRACKETS.sub(r"(\1)", text)
    text = _FUNCTION_AFTER_FACTOR.sub(r"\1 \, \2", text)
    result = convert(text, display=display)
    result = _PRIME.sub(r'<mrow>\1<mo lspace="0" rspace="0">&#x02032;</mo></mrow>', result)
    result = result.replace("<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>")
    leak = re.search(r"<m[ion][^>]*>(\\[^<]*|&amp;|&)</m[ion]>", result)
    if leak:
        raise EocError(
            "a formula cannot be shown as MathML", where=latex, why=f"the converter does not know {leak.group(1)}"
        )
    return str(result)


def mixed(text: str) -> str:
    """A sentence with $mathematics$ as HTML."""
    from html import escape

    parts = re.split(r"\$([^$]*)\$", text)
    return "".join(mathml(part) if index % 2 else escape(part) for index, part in enumerate(parts))
