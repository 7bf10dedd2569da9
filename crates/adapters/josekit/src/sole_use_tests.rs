//! The keys of access tokens sign nothing else. With `typ: JWT` (RFC 7519) no header shows the
//! purpose of a signature, so another kind of JWT signed with these keys would be taken for an
//! access token (RFC 8725 section 3.11). `scripts/check-dependencies.sh` checks that no other crate
//! links the library.

use std::fs;
use std::path::Path;

/// Every source file of the crates and the binary except tests, with its lines of code.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap();
    let mut files = Vec::new();
    let mut folders = vec![root.join("crates"), root.join("bins")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            if path.is_dir() {
                folders.push(path);
            } else if is_code(&name) {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
                let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
                files.push((name, code.collect::<Vec<_>>().join("\n")));
            }
        }
    }
    files
}

fn is_code(name: &str) -> bool {
    name.contains("/src/")
        && name.ends_with(".rs")
        && !name.ends_with("tests.rs")
        && !name.contains("/tests/")
        && !name.starts_with("crates/testkit/")
}

/// The files that contain this text, listed once per occurrence.
fn uses(sources: &[(String, String)], text: &str) -> Vec<String> {
    let of_file = |(name, code): &(String, String)| vec![name.clone(); code.matches(text).count()];
    let mut found: Vec<_> = sources.iter().flat_map(of_file).collect();
    found.sort();
    found
}

#[test]
fn private_keys_are_opened_in_one_place_and_sign_in_one_place() {
    let sources = sources();
    assert!(sources.len() > 300, "{} files are not all", sources.len());
    let uses = |text: &str| uses(&sources, text);
    // Keys are made and opened here. The vault defines the purpose, and no other code uses it.
    assert_eq!(
        uses("Purpose::SigningKey"),
        [
            "crates/adapters/josekit/src/key.rs",
            "crates/adapters/josekit/src/key.rs",
            "crates/adapters/system/src/vault.rs",
        ]
    );
    // Only `Key` contains a key that signs.
    assert!(uses("JwsSigner").iter().all(|file| file == "crates/adapters/josekit/src/key.rs"));
    assert_eq!(uses("signer_from_jwk("), vec!["crates/adapters/josekit/src/key.rs"; 3]);
    // It signs the text that `token::sign` makes of `Claims`, and `Tokens::pair` calls that.
    assert_eq!(
        uses("signer.sign("),
        ["crates/adapters/josekit/src/token.rs", "crates/app/src/calls/tokens.rs"]
    );
    assert_eq!(uses("token::sign("), ["crates/adapters/josekit/src/signer.rs"]);
}
