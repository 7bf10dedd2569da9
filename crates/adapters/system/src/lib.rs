//! The real clock and the operating system's entropy.
