"""Changed code: does a test notice? `make mutation`. (`make mutants` is about damaged input.)"""
