use super::*;

/// Answers to `SELECT version()`, as the servers' documentation and users quote them.
const OURS: [&str; 10] = [
    // Debian.
    "PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit",
    // Amazon RDS and Aurora PostgreSQL.
    "PostgreSQL 16.4 on aarch64-unknown-linux-gnu, compiled by aarch64-unknown-linux-gnu-gcc (GCC) 9.5.0, 64-bit",
    // AlloyDB and Cloud SQL.
    "PostgreSQL 15.5 on x86_64-pc-linux-gnu, compiled by Debian clang version 12.0.1, 64-bit",
    // Neon.
    "PostgreSQL 17.5 (6bc9ef8) on aarch64-unknown-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit",
    // Supabase.
    "PostgreSQL 15.8 on aarch64-unknown-linux-gnu, compiled by gcc (GCC) 13.2.0, 64-bit",
    // EDB Postgres Advanced Server.
    "PostgreSQL 16.3 (EnterpriseDB Advanced Server 16.3.0) on x86_64-pc-linux-gnu, compiled by gcc (GCC) 8.5.0 20210514 (Red Hat 8.5.0-22), 64-bit",
    // Percona.
    "PostgreSQL 16.4 - Percona Distribution on x86_64-pc-linux-gnu, compiled by gcc (GCC) 11.4.1, 64-bit",
    // Azure, with Citus.
    "PostgreSQL 16.2 on x86_64-pc-linux-gnu, compiled by gcc (Ubuntu 9.4.0-1ubuntu1~20.04.2) 9.4.0, 64-bit",
    // Alpine, and a release that is not published yet.
    "PostgreSQL 18beta1 on x86_64-pc-linux-musl, compiled by gcc (Alpine 14.2.0) 14.2.0, 64-bit",
    "PostgreSQL 17.0 on x86_64-windows, compiled by msvc-19.41.34120, 64-bit",
];

const THEIRS: [(&str, &str); 12] = [
    (
        "CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27 01:53:43, go1.19.10)",
        "CockroachDB",
    ),
    (
        "PostgreSQL 11.2-YB-2.18.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 15.0.3, 64-bit",
        "YugabyteDB",
    ),
    (
        "PostgreSQL 15.2-YB-2.25.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang version 17.0.6, 64-bit",
        "YugabyteDB",
    ),
    (
        "PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2 20041017 (Red Hat 3.4.2-6.fc3), Redshift 1.0.60353",
        "Amazon Redshift",
    ),
    ("PostgreSQL 9.5.0 on x86_64-unknown-linux-gnu (Materialize v0.100.0)", "Materialize"),
    ("PostgreSQL 13.14.0-RisingWave-2.0.1 (0d15632)", "RisingWave"),
    (
        "PostgreSQL 12.12 (Greenplum Database 7.1.0 build commit:4e19ae) on x86_64-pc-linux-gnu",
        "Greenplum",
    ),
    (
        "PostgreSQL 14.4 (Apache Cloudberry 1.6.0 build 1) on x86_64-pc-linux-gnu",
        "Apache Cloudberry",
    ),
    (
        "CrateDB 5.8.1 (built 2b4e9a6/2024-07-11T10:42:14Z, Linux 6.1 amd64, OpenJDK 64-Bit Server VM 22)",
        "CrateDB",
    ),
    ("PostgreSQL 12.3, compiled by Visual C++ build 1914, 64-bit, QuestDB", "QuestDB"),
    ("PostgreSQL 16.3 compatible CedarDB v2025-01-01", "CedarDB"),
    (
        "(openGauss 5.0.0 build a07d57c3) compiled at 2023-03-29 on x86_64-unknown-linux-gnu",
        "openGauss",
    ),
];

#[test]
fn what_is_made_of_postgresql_is_not_mistaken_for_another_engine() {
    for version in OURS {
        assert_eq!(other_engine(version), None, "{version}");
    }
}

#[test]
fn other_engines_are_told_by_what_they_call_themselves() {
    for (version, name) in THEIRS {
        assert_eq!(other_engine(version).as_deref(), Some(name), "{version}");
    }
    let odd = "Something\u{7} 1.0 that nobody knows and that goes on and on";
    assert_eq!(other_engine(odd).as_deref(), Some("Something 1.0 that nobody knows and that"));
}

#[test]
fn releases_are_told_as_people_write_them() {
    assert_eq!([80_002, 90_624, 140_011].map(release), ["8.0.2", "9.6.24", "14.11"]);
}

#[test]
fn a_server_that_refuses_our_settings_is_asked_without_them() {
    let url = "postgres://dwar:p%40ss@db/dwar?sslmode=require&options=-c%20jit%3Doff&target_session_attrs=read-write&connect_timeout=2";
    assert_eq!(bare(url), "postgres://dwar:p%40ss@db/dwar?sslmode=require&connect_timeout=2");
}
