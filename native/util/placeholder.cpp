namespace misstep {}
