"""The trusted checker: pure Python that shares no code with the core."""
