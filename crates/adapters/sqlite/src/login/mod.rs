//! The steps of a login. Each reads what it needs in one statement and writes its changes.

mod prepare;
mod redeem;
mod report;

use crate::connection::pool::SqliteStore;
use crate::connection::remembered::Changes;
use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};
use dwar_login::{LoginStore, NewSend, Prepared, Redeemed, Redemption, SendReport};
use dwar_otp::{DeliveryStep, Otp, Reported};

#[async_trait]
impl LoginStore for SqliteStore {
    async fn prepare(&self, send: NewSend, now: Timestamp) -> Result<Prepared, StoreError> {
        self.of(send.otp.world.project)
            .write_that("login.prepare", Changes::NoLookUp, move |connection| {
                prepare::prepare(connection, &send, now)
            })
            .await
    }

    async fn report(
        &self,
        request: Reported,
        report: SendReport,
        now: Timestamp,
    ) -> Result<Option<(Otp, DeliveryStep)>, StoreError> {
        let (project, otp) = request.key();
        self.of(project)
            .write_that("login.report", Changes::NoLookUp, move |connection| {
                report::report(connection, project, otp, &report, now)
            })
            .await
    }

    async fn redeem(&self, redemption: Redemption, now: Timestamp) -> Result<Redeemed, StoreError> {
        self.of(redemption.world.project)
            .write_that("login.redeem", Changes::NoLookUp, move |connection| {
                redeem::redeem(connection, &redemption, now)
            })
            .await
    }
}
