"""Instance generators: parts that write problems of any size, the same for the same seed."""
