"""From a raw observation to a screen: roles, texts, grid cells, atoms, metadata, vectors."""
