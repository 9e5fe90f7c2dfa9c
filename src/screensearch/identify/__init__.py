"""Which state is this screen? Retrieve, verify, decide (paper, section 4)."""
