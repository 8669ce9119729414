"""Where tables come from: files, databases, addresses, frames in memory."""
