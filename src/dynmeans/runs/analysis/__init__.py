"""What a run found, seen from outside: numbers, profiles, families, telling values."""
