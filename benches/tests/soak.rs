//! All kinds of work at once for a moment, so that the load generator keeps working; long runs are
//! started by hand.

mod alone {
    use std::env::var;
    use std::path::Path;
    use std::process::Command;

    #[test]
    #[ignore = "needs the programs of PostgreSQL, node, sqlite3 and the debug build of dwar"]
    fn a_soak_of_seconds_finds_nothing_that_grows() {
        let load = Path::new(env!("CARGO_BIN_EXE_compare"));
        let built = load.with_file_name("dwar").to_str().unwrap().to_owned();
        let ran = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/soak.sh"))
            .arg("0.05")
            .env("COMPARE_DWAR", var("DWAR_TEST_BINARY").unwrap_or(built))
            .env("COMPARE_LOAD", load)
            .env("SOAK_CASES", "sqlite:1:20 postgres:2:20")
            .output()
            .unwrap();
        let said = String::from_utf8(ran.stdout).unwrap();
        let complained = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{complained}\n{said}");
        for row in ["verify, right code", "receipts", "events, slow endpoint", "instance 2"] {
            assert!(said.contains(&format!("| {row}")), "{row}: {said}");
        }
    }
}
