"""What tests use, here and in packages that bring their own parts."""
