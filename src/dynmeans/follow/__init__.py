"""The one follower: a recipe, a memory, and one way through every stream."""
