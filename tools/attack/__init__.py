"""Attack as a habit: random damage to every reader, random streams through every engine, kills."""
