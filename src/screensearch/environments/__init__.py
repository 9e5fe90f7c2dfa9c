"""Where actions happen. Each backend is a room of its own behind `protocol.Environment`."""
