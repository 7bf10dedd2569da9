use std::fs;
use std::path::Path;

/// Public methods that are not use cases: steps of several use cases, and work that runs as long as the
/// service.
const PARTS: [&str; 10] = [
    "create_project.rs: keep",
    "create_project.rs: keep_first",
    "deliver.rs: conclude",
    "deliver.rs: receipt",
    "deliver.rs: report",
    "deliver.rs: settle",
    // The use cases are its steps.
    "receive_webhook.rs: receive",
    "signing_keys.rs: list",
    "signing_keys.rs: publish",
    // Its span is that of `validate`.
    "validate_session.rs: introspect",
];

#[test]
fn each_use_case_is_a_span() {
    const METHOD: &str = "    pub async fn ";
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut without, mut with) = (Vec::new(), 0);
    for folder in ["calls", "setup"] {
        for file in fs::read_dir(source.join(folder)).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines.windows(2) {
                let Some(method) = pair[1].strip_prefix(METHOD) else { continue };
                if pair[0].trim_start().starts_with("#[instrument(") {
                    with += 1;
                } else {
                    let method = method.split(['(', '<']).next().unwrap();
                    without.push(format!("{name}: {method}"));
                }
            }
        }
    }
    without.sort();
    assert_eq!(without, PARTS);
    assert!(with > 20, "{with}");
}
