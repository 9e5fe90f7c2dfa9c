"""Several applications and configurations, explored by one command that can be given again.

file      what a campaign file says: the runs, each with its target, its settings and its stop rule
ready     what is checked before the first run starts: programs, plugins, stores, runs that are there
record    campaign.json: how far each run has come, and who conducts the campaign now
conduct   so many runs at the same time, each in a process of its own; interrupts
process   that process: one run of a campaign, made or resumed on this machine (`cluster` has another one)
"""
