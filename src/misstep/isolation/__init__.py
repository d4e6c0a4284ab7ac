"""Other people's code in a process of its own: it may crash, hang, print or fork; misstep goes on."""
