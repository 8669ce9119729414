"""What flows between the stages: frozen, checked once, no algorithms."""
