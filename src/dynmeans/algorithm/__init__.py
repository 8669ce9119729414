"""The paper in plain NumPy: slow, short, obviously right. Every backend must agree with it."""
