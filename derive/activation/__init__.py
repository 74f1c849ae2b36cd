"""The function on its own, before any expectation: pieces, jumps, symmetry, growth, domain; proved, never sampled.

normal_form(expr)                 a sum of smooth expressions times one-sided steps, and its algebra
piece_function(expr, parameters)  numeric parameters: pieces on complex balls, breakpoints, tail bounds
facts(expr, domains)              real on the whole line or why not, parity, monotonicity, smoothness, growth
"""
