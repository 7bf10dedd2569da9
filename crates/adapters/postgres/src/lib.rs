//! Every store port on PostgreSQL.
