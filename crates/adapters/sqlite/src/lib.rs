//! Every store port on an embedded SQLite file.
