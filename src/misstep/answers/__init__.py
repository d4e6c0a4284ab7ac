"""From what a policy returns to an answer: failures contained, scores turned into actions."""
