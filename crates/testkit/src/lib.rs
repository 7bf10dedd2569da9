//! Contract suites for every port, fixed clock, seeded entropy, fixtures. For tests only.
