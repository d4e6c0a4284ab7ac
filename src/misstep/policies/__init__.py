"""The kinds of policies that misstep evaluates by itself."""
