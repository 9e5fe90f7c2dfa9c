"""Going back to a state: routes, the judge of what comes out, walks in a fresh environment, test scripts."""
