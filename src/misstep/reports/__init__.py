"""What people see; made from events and records alone."""
