"""One file a command: flags in, words out."""
