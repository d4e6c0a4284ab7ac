"""`misstep train`: train a policy; one command a kind of policy."""

from cyclopts import App

train = App(
    name="train",
    help="Train a policy: asnet (imitation on PDDL tasks), gnn (values of states, or scores of actions, on PDDL "
    "tasks; needs PyTorch), mlp (Q-learning on a JANI model).",
)
train.command("misstep.cli.train_asnet:train_asnet", name="asnet")
train.command("misstep.cli.train_gnn:train_gnn", name="gnn")
train.command("misstep.cli.safety_models:train", name="mlp")
