"""What a test leaves behind: stores, records, certificates; checking them and asking the policy again."""
