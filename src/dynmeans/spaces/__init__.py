"""How the rows of a stream become the points that are clustered, and centers become rows again."""
