"""What twenty fixed commands cost, in instructions: `make ledger`."""
