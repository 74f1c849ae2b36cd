"""Plain frozen values that flow from formula to verdict."""

from derive.records.enclosure import Enclosure
from derive.records.errors import DomainError, EocError, FormulaError, SelfTestFailed, Undefined, Unsupported
from derive.records.formula import REAL_LINE, Formula, Interval, Node
from derive.records.kind import Kind
from derive.records.points import EdgePoint, FixedPoint, OperatingPoint
from derive.records.step import Step

__all__ = [
    "REAL_LINE",
    "DomainError",
    "EdgePoint",
    "Enclosure",
    "EocError",
    "FixedPoint",
    "Formula",
    "FormulaError",
    "Interval",
    "Kind",
    "Node",
    "OperatingPoint",
    "SelfTestFailed",
    "Step",
    "Undefined",
    "Unsupported",
]
