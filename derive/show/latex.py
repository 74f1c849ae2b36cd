"""A document as a LaTeX page that compiles alone, or as a body to be included, with its bibliography."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from derive.show import proof
from derive.show.conventions import BLOCK_CONVENTIONS, CONVENTIONS, KINDS, functions_used
from derive.show.names import symbol_name
from derive.show.text import code, escape, is_citation, mixed, slug, with_math

BEGIN = "% >>> eoc body >>>"
END = "% <<< eoc body <<<"
MACROS = (
    (r"\operatorname{\mathbb{E}}", r"\eocE"),
    (r"\operatorname{erf}", r"\eocErf"),
    (r"\operatorname{sign}", r"\eocSign"),
)
"""(LaTeX as printed, prefixed macro that stands for it in the body)."""

_PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage{lmodern}
\usepackage{amsmath,amssymb}
\usepackage[a4paper,left=25mm,right=25mm,top=25mm,bottom=25mm]{geometry}
\usepackage[hidelinks]{hyperref}
\allowdisplaybreaks
\setlength{\parindent}{0pt}
\setlength{\parskip}{0.6ex}
"""


def page(document: Mapping[str, Any]) -> str:
    """A complete document: pdflatex needs amsmath, amssymb, geometry, hyperref and lmodern only."""
    title = code(title_of(document))
    return "\n".join([
        header(document, "%"),
        _PREAMBLE + rf"\title{{Wide-network theory of {title}}}",
        rf"\author{{derived by eoc {escape(document['version'])}}}",
        r"\date{}",
        r"\begin{document}",
        r"\maketitle",
        BEGIN,
        _body(document),
        END,
        _bibliography(document),
        r"\end{document}",
        "",
    ])  # fmt: skip


def title_of(document: Mapping[str, Any]) -> str:
    """The block's text, or the activation's name or formula."""
    return str(document["block"]["text"] if document["block"] else document["activation"]["title"])


def body(document: Mapping[str, Any]) -> str:
    r"""The body alone, for \input into a paper that loads amsmath and amssymb; its macros begin with \eoc."""
    own = [r"\begingroup\allowdisplaybreaks", _body(document), r"\endgroup"]
    return "\n".join([header(document, "%"), BEGIN, *own, END, ""])


def bib(document: Mapping[str, Any], existing: str = "") -> str:
    """The sources as a BibTeX file; the citation keys are those of the body, the same for a source in every body.

    existing   a file written before: its entries stay, and only sources that it lacks are added
    """
    entries = [
        f"@misc{{{slug(source)},\n  key = {{{slug(source)[4:]}}},\n  note = {{{escape(source)}}}\n}}"
        for source in sources(document)
        if f"{{{slug(source)}," not in existing
    ]
    start = (
        existing.rstrip()
        or f"% eoc {document['version']}: sources of the bodies beside this file; each key stands once"
    )
    return "\n\n".join([start, *entries]) + "\n"


def header(document: Mapping[str, Any], mark: str) -> str:
    """Comment lines that say what made this file: version, question, settings."""
    question, settings = document["question"], document["settings"]
    asked = " ".join(question["text"].split())[:200]
    rows = [f"eoc {document['version']}: {asked}"]
    rows += [f"set {name} = {value}" for name, value in question["set"].items()]
    rows += [f"{name} in {value}" for name, value in question["domains"].items()]
    rows.append("settings: " + ", ".join(f"{name} {value}" for name, value in settings.items()))
    return "\n".join(f"{mark} {row}" for row in rows)


def _body(document: Mapping[str, Any]) -> str:
    parts = [
        "\n".join(rf"\providecommand{{{macro}}}{{{meaning}}}" for meaning, macro in MACROS),
        _activation(document),
        _conventions(document),
        r"\section*{Results}",
        *(_result(result) for result in document["results"]),
        _edge(document),
        _values(document),
        _derivations(document),
    ]
    text = "\n\n".join(part for part in parts if part)
    macros, rest = text.split("\n\n", 1)
    for meaning, macro in MACROS:
        rest = rest.replace(meaning, macro + "{}")
    return f"{macros}\n\n{rest}"


def _activation(document: Mapping[str, Any]) -> str:
    activation, block = document["activation"], document["block"]
    if block:
        rows = [r"\section*{Block}", code(block["text"])]
        for function in block["functions"]:
            named = f" of {code(function['title'])}" if function["title"] else ""
            rows += [rf"\paragraph{{Activation}}{named}", proof.equation(r"\varphi(x)", function["formula"])]
    else:
        rows = [r"\section*{Activation}", proof.equation(r"\varphi(x)", activation["formula"])]
    alone = not block or len(block["functions"]) == 1
    facts = [mixed(f"{fact['name']}: {fact['mixed']}") for fact in activation["facts"] if alone]
    facts += [
        rf"parameter ${symbol_name(item['name'])}$ in ${_interval(item['domain'])}$"
        for item in activation["parameters"]
    ]
    if facts:
        rows.append("\\begin{itemize}\n" + "\n".join(rf"\item {fact}" for fact in facts) + "\n\\end{itemize}")
    rows += [mixed(note) + "." for note in activation["notes"]]
    return "\n".join(rows)


def all_lines(formula: Mapping[str, Any]) -> list[str]:
    """Every line of a formula and of its `where` list."""
    return [*formula["lines"], *(line for _, lines in formula["where"] for line in lines)]


def _interval(text: str) -> str:
    return text.replace("inf", r"\infty")


def _conventions(document: Mapping[str, Any]) -> str:
    texts = [line for result in document["results"] for line in all_lines(result)]
    kinds = list(dict.fromkeys(result["kind"] for result in document["results"]))
    items = [*(BLOCK_CONVENTIONS if document["block"] else CONVENTIONS), *functions_used(texts)]
    rows = [r"\section*{Conventions}", r"\begin{itemize}", *(rf"\item {mixed(item)}" for item in items)]
    rows.append(
        r"\item Kinds of result: " + "; ".join(rf"\textsc{{{kind.lower()}}}, {KINDS[kind]}" for kind in kinds) + "."
    )
    rows.append(r"\end{itemize}")
    return "\n".join(rows)


def _result(result: Mapping[str, Any]) -> str:
    title = f"{result['title'][:1].upper()}{result['title'][1:]}"
    kind = rf"\textsc{{{result['kind'].lower()}}}{_cites(result['sources'])}"
    rows = [rf"\paragraph{{{escape(title)}}} {kind}. {mixed(result['meaning'])}"]
    rows.append(proof.equation(result["symbol"]["latex"], result))
    rows += [f"Provided {escape(condition)}." for condition in result["conditions"]]
    rows += (
        [f"No closed form; what no rule takes: {code('; '.join(result['blockers']))}."] if result["blockers"] else []
    )
    return "\n".join(rows)


def _edge(document: Mapping[str, Any]) -> str:
    edge = document["edge"]
    rows = [r"\section*{Edge of chaos}"]
    rows += [mixed(with_math(edge["reason"])) + "."] if edge["reason"] else []
    rows += [proof.equation(item["symbol"]["latex"], item) for item in edge["formulas"]]
    rows += [_end(end) for end in edge["limits"]]
    return "\n".join(rows) if len(rows) > 1 else ""


def _end(end: Mapping[str, Any]) -> str:
    remark = f" ({mixed(with_math(end['remark']))})" if end["remark"] else ""
    return rf"For ${end['symbol']['latex']}$: ${end['latex']}${remark}.\par"


def _values(document: Mapping[str, Any]) -> str:
    if not document["values"]:
        return ""
    rows = [
        rf"{escape(value['title'])} & ${value['symbol']['latex']}$ & ${value['latex']}$ \\"
        for value in document["values"]
    ]
    return "\n".join([
        rf"\section*{{Values at {mixed(document['values_at'])}}}",
        "Certified digits only.",
        r"\par\medskip\begin{tabular}{@{}lll@{}}",
        *rows,
        r"\end{tabular}",
    ])  # fmt: skip


def _derivations(document: Mapping[str, Any]) -> str:
    rows = []
    for entry in document.get("proofs", ()):
        rows.append(rf"\subsection*{{{escape(entry['title'])}}}")
        rows.append(proof.latex_text(entry["steps"]))
    return "\n".join([r"\section*{Derivations}", *rows]) if rows else ""


def latex_document(theory: Any) -> str:
    """The page of a theory, derivations included."""
    from derive.show.document import document, proofs

    return page({**document(theory), "proofs": proofs(theory)})


def sources(document: Mapping[str, Any]) -> list[str]:
    """What the document cites, each source once."""
    found = [source for result in document["results"] for source in result["sources"]]
    found += [source for entry in document.get("proofs", ()) for source in proof.sources(entry["steps"])]
    found += document["activation"]["sources"]
    return list({slug(source): source for source in reversed(found) if is_citation(source)}.values())[::-1]


def _cites(cited: list[str]) -> str:
    keys = dict.fromkeys(slug(source) for source in cited if is_citation(source))
    return rf" \cite{{{','.join(keys)}}}" if keys else ""


def _bibliography(document: Mapping[str, Any]) -> str:
    cited = sources(document)
    if not cited:
        return ""
    items = [rf"\bibitem{{{slug(source)}}} {escape(source)}." for source in cited]
    return "\n".join([r"\begin{thebibliography}{99}", *items, r"\end{thebibliography}"])
