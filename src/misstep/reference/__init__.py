"""The trusted checker: plain, obvious Python that shares no code with the rest of misstep.

Read `docs/certificates.md` beside it: that page says what each certificate claims and why the checks made
here prove it. The files in the order in which they build on each other:

- `checked`, `reading`, `digest`: the checker's two answers, careful reading of JSON, the fingerprint;
- `fdr`, `plan`: what a planning task is and what a plan is;
- `dead_end`, `landmarks`, `lower`: proofs that no plan is cheaper than a number;
- `run`, `objective`, `fault`, `certificate`: a policy's run, the judge's rule, classical certificates;
- `jani_expressions`, `jani_writes`, `jani_model`: an interpreter of JANI models;
- `game`, `evidence`, `safety`: strategies and refutations, what certificates share, safety certificates.
"""
