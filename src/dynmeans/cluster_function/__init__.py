"""One call on a frame: its rows clustered, and what was found in the frame's own library."""
