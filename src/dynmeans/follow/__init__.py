"""The one follower: a model configuration, a memory, and one way through every stream."""
