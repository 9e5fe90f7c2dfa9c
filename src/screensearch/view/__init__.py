"""What people see: the viewer and its HTTP API, report, search, comparison, exports. It changes no run."""
