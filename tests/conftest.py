"""Profiles for hypothesis: the default, and one without deadlines for instrumented builds."""

from hypothesis import settings

settings.register_profile("default", deadline=None)
settings.register_profile("sanitize", deadline=None, max_examples=60)
settings.load_profile("default")
