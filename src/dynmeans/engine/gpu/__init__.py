"""A step on an NVIDIA GPU: the bits of the specification, by kernels that need no order.

`backend` is loaded on access: by `backend="gpu"`, or by a batch that lies on a GPU. It
needs CuPy; so does everything in this folder. What lies in `host` needs NumPy alone.
"""
