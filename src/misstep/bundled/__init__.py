"""Tasks, models, generators and trained policies that come with misstep."""
