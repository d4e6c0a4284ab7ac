"""`misstep train`: train a policy; one command a kind of policy."""

from cyclopts import App

train = App(name="train", help="Train a policy: mlp (Q-learning on a JANI model).")
train.command("misstep.cli.safety_models:train", name="mlp")
