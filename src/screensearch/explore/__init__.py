"""The loop that ties the verbs together: observe, encode, identify, record, select, act.

`step` is one turn of it and does not know where it runs; `store` is the single writer of a run;
`worker_process` and `owner` place the two in processes of their own.
"""
