"""The trusted checker: small, slow, obvious Python that shares no code with the rest of misstep."""
