"""The published experiments, each by one call: tables and figures of ours beside the printed ones."""
