use dwar_kernel::Phone;

/// A number as login systems write it: `+91` or `91` and ten digits.
pub(super) fn international(text: &str) -> Option<Phone> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    // Without its country a number may be of any; ten digits alone are not taken for Indian ones.
    let is_indian = digits.len() == 12 && digits.starts_with("91");
    is_indian.then(|| format!("+{digits}").parse().ok()).flatten()
}
