//! The steps of a login. Each reads what it needs in one statement and writes its changes.

mod prepare;
mod redeem;
mod report;

use crate::connection::look_up_cache::OutdatedLookUps;
use crate::connection::pool::SqliteStore;
use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};
use dwar_login::{LoginStore, NewSend, Prepared, Redeemed, Redemption, SendReport};
use dwar_otp::{DeliveryStep, Otp, ReportedRequest};

#[async_trait]
impl LoginStore for SqliteStore {
    async fn prepare(&self, send: NewSend, now: Timestamp) -> Result<Prepared, StoreError> {
        self.of(send.otp.project_mode.project)
            .write_that("login.prepare", OutdatedLookUps::NoLookUp, move |connection| {
                prepare::prepare(connection, &send, now)
            })
            .await
    }

    async fn report(
        &self,
        request: ReportedRequest,
        report: SendReport,
        now: Timestamp,
    ) -> Result<Option<(Otp, DeliveryStep)>, StoreError> {
        let (project, otp) = request.key();
        self.of(project)
            .write_that("login.report", OutdatedLookUps::NoLookUp, move |connection| {
                report::report(connection, project, otp, &report, now)
            })
            .await
    }

    async fn redeem(&self, redemption: Redemption, now: Timestamp) -> Result<Redeemed, StoreError> {
        self.of(redemption.project_mode.project)
            .write_that("login.redeem", OutdatedLookUps::NoLookUp, move |connection| {
                redeem::redeem(connection, &redemption, now)
            })
            .await
    }
}
