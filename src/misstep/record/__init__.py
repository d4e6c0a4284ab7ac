"""What a test leaves behind: stores, certificates, checking and asking again."""
