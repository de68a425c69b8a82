"""What every stage runs on: the one DoFn with logic, loaded members, progress, resource hints, the job."""
