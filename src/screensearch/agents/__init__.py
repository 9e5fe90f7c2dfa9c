"""Maps for agents: a Model Context Protocol server over runs, and applications as Gymnasium environments."""
