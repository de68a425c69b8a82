"""What `sottovoce sanitize` drives: job file, plan, graph, run, commit, report."""
