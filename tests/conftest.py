"""Settings for all tests: property tests have no deadline, since a busy machine is no defect; `make check` draws fewer."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=20)
settings.load_profile("patient")
