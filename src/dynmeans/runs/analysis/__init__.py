"""What a run found, seen from outside: numbers, profiles, families, characteristic values."""
