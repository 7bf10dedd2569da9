//! Families of series in a scrape (OpenMetrics 1.0).

use crate::times::Histogram;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, MetricEncoder, NoLabelSet,
};
use prometheus_client::metrics::MetricType;
use std::fmt;

type Labels<'word, const N: usize> = [(&'static str, &'word str); N];

pub(crate) struct Page<'encoder>(pub(crate) DescriptorEncoder<'encoder>);

impl Page<'_> {
    /// Writes counters with their labels; the format adds `_total` to the name.
    pub(crate) fn counters<'word, V: EncodeCounterValue, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        series: impl IntoIterator<Item = (Labels<'word, N>, V)>,
    ) -> fmt::Result {
        self.family(name, help, MetricType::Counter, series, |encoder, value| {
            encoder.encode_counter::<NoLabelSet, V, u64>(&value, None)
        })
    }

    pub(crate) fn gauges<'word, V: EncodeGaugeValue, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        series: impl IntoIterator<Item = (Labels<'word, N>, V)>,
    ) -> fmt::Result {
        self.family(name, help, MetricType::Gauge, series, |encoder, value| {
            encoder.encode_gauge(&value)
        })
    }

    pub(crate) fn histograms<'word, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        series: impl IntoIterator<Item = (Labels<'word, N>, Histogram)>,
    ) -> fmt::Result {
        self.family(name, help, MetricType::Histogram, series, |encoder, value| {
            let (sum, count) = (value.sum, value.count());
            encoder.encode_histogram::<NoLabelSet>(sum, count, &value.buckets, None)
        })
    }

    fn family<'word, V, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        kind: MetricType,
        series: impl IntoIterator<Item = (Labels<'word, N>, V)>,
        write: impl Fn(&mut MetricEncoder<'_>, V) -> fmt::Result,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, None, kind)?;
        for (labels, value) in series {
            match N {
                0 => write(&mut family, value)?,
                _ => write(&mut family.encode_family(&labels)?, value)?,
            }
        }
        Ok(())
    }
}
