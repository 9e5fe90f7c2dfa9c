"""Real applications on Linux desktops, each episode in a sandbox of its own."""
