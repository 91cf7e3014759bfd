"""The HTTP hosts of the boundary module: each file here is a part of it.

`Host` holds methods of `Stateless`; what stands beside it goes to the end of the module.
"""
