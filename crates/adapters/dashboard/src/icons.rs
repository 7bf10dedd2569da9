//! What is drawn on pages.

use maud::{Markup, html};

/// The door.
pub(crate) fn mark() -> Markup {
    html! {
        svg.mark viewBox="0 0 32 32" width="26" height="26" aria-hidden="true" {
            path d="M5 30V13C5 6.9 9.9 2 16 2s11 4.9 11 11v17z" fill="currentColor" {}
            path.mark-inner d="M10 30V14c0-3.3 2.7-6 6-6s6 2.7 6 6v16z" {}
            circle cx="19" cy="20" r="1.6" fill="currentColor" {}
        }
    }
}

/// Small line drawings, 16 by 16.
pub(crate) fn icon(name: &str) -> Markup {
    let path = match name {
        "chart" => "M2.500 13.500h11M4.500 11V8.500M8 11V3.500M11.500 11V6",
        "play" => "M5 3.5v9l7.5-4.5z",
        "key" => {
            "M5.500 12.500a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM7.700 7.300L13.500 2M11.500 4l2 2M9.700 5.600l1.500 1.500"
        }
        "sliders" => "M2 4.500h7M12 4.500h2M2 11.500h2M7 11.500h7M10.500 3v3M5.500 10v3",
        "wallet" => "M2.500 4.500h10a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1h-10zM2.500 4.500l8-2v2M11 9h.01",
        "person" => {
            "M8 8a2.700 2.700 0 1 0 0-5.400A2.700 2.700 0 0 0 8 8zM3 14c0-2.800 2.200-4.500 5-4.500s5 1.700 5 4.500"
        }
        "team" => {
            "M6 7.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM1.500 13.500c0-2.500 2-4 4.500-4s4.500 1.500 4.500 4M10.500 2.800a2.500 2.500 0 0 1 0 4.400M12 9.800c1.500.5 2.500 1.800 2.500 3.700"
        }
        "pulse" => "M1.500 8.500h3l2-5 3 9 2-4h3",
        "log" => "M3 3h10M3 6.500h10M3 10h6M3 13.500h4",
        "grid" => {
            "M2.500 2.500h4v4h-4zM9.500 2.500h4v4h-4zM2.500 9.500h4v4h-4zM9.500 9.500h4v4h-4z"
        }
        "swap" => "M5 6l3-3 3 3M5 10l3 3 3-3",
        "mail" => "M2 3.500h12v9H2zM2.500 4.500l5.500 4.500 5.500-4.500",
        "down" => "M4 6l4 4 4-4",
        "menu" => "M2 4h12M2 8h12M2 12h12",
        "light" => {
            "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1v1.500M8 13.500V15M1 8h1.500M13.500 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1"
        }
        "dark" => "M13 9.500A5.500 5.500 0 0 1 6.500 3 5.500 5.500 0 1 0 13 9.500z",
        "system" => "M2 3h12v8H2zM6 14h4M8 11v3",
        "find" => "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.700 10.700L14 14",
        "check" => "M3 8.500l3.500 3.500L13 4.500",
        "cross" => "M4 4l8 8M12 4l-8 8",
        "clock" => "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.500V8l2.500 1.500",
        "dot" => "M8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
        "book" => "M3 12.500V3.500a1 1 0 0 1 1-1h9v8.500H4.500a1.500 1.500 0 0 0 0 3H13V11",
        "copy" => "M5.500 5.500h8v8h-8zM3 10.500h-.5v-8h8V3",
        _ => "M3 8h10",
    };
    html! {
        svg.icon viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" { path d=(path) {} }
    }
}
