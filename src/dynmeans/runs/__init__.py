"""A long clustering as files: what is durable, and what resumes."""
