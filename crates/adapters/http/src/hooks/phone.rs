use dwar_kernel::Phone;

/// Parses a number as login systems write it: `+91` or `91` and ten digits.
pub(super) fn international(text: &str) -> Option<Phone> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    // Ten digits without a country code may belong to any country, so they are refused.
    let is_indian = digits.len() == 12 && digits.starts_with("91");
    is_indian.then(|| format!("+{digits}").parse().ok()).flatten()
}
