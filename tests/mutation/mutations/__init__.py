# SPDX-License-Identifier: BSD-2-Clause
"""Single-line mutations, each a fault that somebody could make: (file, old text, new text, what is wrong then).

The old text occurs once in its file. Where a line alone does not, a neighbour stands with it unchanged. A module
has those of one part of the tree.
"""
import importlib
import pkgutil

MUTATIONS = [mutation for module in pkgutil.iter_modules(__path__)
             for mutation in importlib.import_module(f"{__name__}.{module.name}").MUTATIONS]
