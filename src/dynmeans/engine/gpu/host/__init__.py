"""What the host decides in a step on a GPU; none of it needs a card."""
