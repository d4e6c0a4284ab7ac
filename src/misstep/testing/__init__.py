"""For authors of parts and for our own tests: random tasks and slow, exact answers about them."""
