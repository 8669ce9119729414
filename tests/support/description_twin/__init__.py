"""The description of a stream in plain NumPy: what the compiled one must agree with."""
