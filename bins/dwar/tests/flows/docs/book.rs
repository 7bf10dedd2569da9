//! The book consists of exactly the pages under docs/.

use crate::docs::{Repository, links};
use std::collections::BTreeSet;

const SUMMARY: &str = "docs/SUMMARY.md";

#[test]
fn every_page_stands_in_the_summary_once() {
    let repository = Repository::open();
    let pages: BTreeSet<String> = repository
        .ending_in(".md")
        .filter(|page| page.starts_with("docs/") && *page != SUMMARY)
        .cloned()
        .collect();
    let summary = repository.read(SUMMARY);
    let listed: Vec<String> = links(&summary).map(|link| format!("docs/{link}")).collect();
    let once: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(once, pages);
    assert_eq!(listed.len(), once.len(), "a page is listed twice: {listed:?}");
}

/// mdBook takes a link to a page for one to a chapter, so links from docs/ to outside may lead only
/// to other files.
#[test]
fn the_book_links_to_no_page_outside_itself() {
    let repository = Repository::open();
    let mut outside = Vec::new();
    for page in repository.ending_in(".md").filter(|page| page.starts_with("docs/")) {
        let depth = page.matches('/').count();
        let text = repository.read(page);
        let leaving = links(&text).filter(|link| link.matches("../").count() >= depth);
        outside.extend(
            leaving
                .filter(|link| link.split('#').next().is_some_and(|file| file.ends_with(".md")))
                .map(|link| format!("{page}: {link}")),
        );
    }
    assert!(outside.is_empty(), "{outside:#?}");
}
