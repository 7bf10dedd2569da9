//! Families in which every series is known at the start.

use crate::cells::ShardedCounters;
use crate::times::{Histogram, Times};
use std::array;
use std::time::Duration;

/// The label for words that are not in the set.
pub(crate) const OTHER: &str = "other";

/// The labels of a family, with the possible words of each.
#[derive(Debug)]
struct Labels<const N: usize> {
    names: [&'static str; N],
    words: [Vec<String>; N],
}

impl<const N: usize> Labels<N> {
    fn new(labels: [(&'static str, Vec<String>); N]) -> Self {
        Self {
            names: labels.each_ref().map(|(name, _)| *name),
            words: labels.map(|(_, words)| words),
        }
    }

    fn count(&self) -> usize {
        self.words.iter().map(Vec::len).product()
    }

    /// The place of the series with these words; `None` if there is none.
    fn place(&self, words: [&str; N]) -> Option<usize> {
        let mut place = 0;
        for (known, word) in self.words.iter().zip(words) {
            place = place * known.len() + known.iter().position(|it| it == word)?;
        }
        Some(place)
    }

    fn at(&self, place: usize) -> [(&'static str, &str); N] {
        let mut rest = place;
        let mut words = [""; N];
        for (word, known) in words.iter_mut().zip(&self.words).rev() {
            *word = &known[rest % known.len()];
            rest /= known.len();
        }
        array::from_fn(|label| (self.names[label], words[label]))
    }
}

pub(crate) fn words(words: impl IntoIterator<Item: Into<String>>) -> Vec<String> {
    words.into_iter().map(Into::into).collect()
}

/// Tells whether a series is shown before anything was counted.
fn is_expected<const N: usize>(labels: &[(&str, &str); N]) -> bool {
    labels.iter().all(|(_, word)| *word != OTHER)
}

#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    labels: Labels<N>,
    cells: ShardedCounters,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(labels: [(&'static str, Vec<String>); N]) -> Self {
        let labels = Labels::new(labels);
        let cells = ShardedCounters::new(labels.count());
        Self { labels, cells }
    }

    /// Counts one; ignores unknown words.
    pub(crate) fn count(&self, words: [&str; N]) {
        if let Some(place) = self.labels.place(words) {
            self.cells.add(place, 1);
        }
    }

    /// Every series; those with [`OTHER`] only if they are not empty.
    pub(crate) fn series(&self) -> impl Iterator<Item = ([(&'static str, &str); N], u64)> {
        let all =
            (0..self.labels.count()).map(|place| (self.labels.at(place), self.cells.sum(place)));
        all.filter(|(labels, count)| *count > 0 || is_expected(labels))
    }
}

#[derive(Debug)]
pub(crate) struct TimeTable<const N: usize> {
    labels: Labels<N>,
    times: Times,
}

impl<const N: usize> TimeTable<N> {
    pub(crate) fn new(bounds: &'static [u64], labels: [(&'static str, Vec<String>); N]) -> Self {
        let labels = Labels::new(labels);
        let times = Times::new(bounds, labels.count());
        Self { labels, times }
    }

    /// Adds an observation; ignores unknown words.
    pub(crate) fn observe(&self, words: [&str; N], took: Duration) {
        if let Some(place) = self.labels.place(words) {
            self.times.observe(place, took);
        }
    }

    /// Every series; those with [`OTHER`] only if they are not empty.
    pub(crate) fn series(&self) -> impl Iterator<Item = ([(&'static str, &str); N], Histogram)> {
        let all =
            (0..self.labels.count()).map(|place| (self.labels.at(place), self.times.read(place)));
        all.filter(|(labels, times)| times.count() > 0 || is_expected(labels))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_combination_of_words_is_a_series_of_its_own() {
        let table = Table::new([("a", words(["x", "y"])), ("b", words(["1", "2", OTHER]))]);
        table.count(["y", "2"]);
        table.count(["y", "2"]);
        table.count(["x", OTHER]);
        table.count(["z", "1"]);
        let counted: Vec<_> = table.series().filter(|(_, count)| *count > 0).collect();
        let of = |a, b, count| ([("a", a), ("b", b)], count);
        assert_eq!(counted, [of("x", OTHER, 1), of("y", "2", 2)]);
        assert_eq!(table.series().count(), 5, "nothing else of the other ones was seen");
    }

    #[test]
    fn a_family_without_labels_is_one_series() {
        let table = Table::<0>::new([]);
        table.count([]);
        assert_eq!(table.series().collect::<Vec<_>>(), [([], 1)]);
    }
}
