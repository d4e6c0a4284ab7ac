"""`misstep safety`: testing policies on JANI models."""

from cyclopts import App

safety = App(name="safety", help="Test policies on JANI models: find unsafe runs, bugs and faults.")
safety.command("misstep.cli.safety_test:test", name="test")
safety.command("misstep.cli.safety_decide:decide", name="decide")
safety.command("misstep.cli.safety_experiments:experiments", name="experiments")
safety.command("misstep.cli.safety_repair:shield", name="shield")
safety.command("misstep.cli.safety_repair:retrain", name="retrain")
safety.command("misstep.cli.safety_serve:serve", name="serve")
safety.command("misstep.cli.safety_models:generate", name="generate")
