"""Settings for all tests: property tests have no deadline, since a busy machine is no defect."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
