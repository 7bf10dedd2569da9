use crate::common::{World, down};
use dwar_app::{OtpStatus, OtpStatusError};
use dwar_kernel::OtpId;
use dwar_otp::Otp;
use mockall::predicate::eq;
use std::mem::take;
use std::sync::Arc;

async fn status(world: &mut World, id: &str) -> Result<Otp, OtpStatusError> {
    OtpStatus { otps: Arc::new(take(&mut world.otps)) }.find(&world.caller, id).await
}

#[tokio::test]
async fn a_malformed_id_is_not_found_without_a_look_up() {
    let answer = status(&mut World::live(), "42").await;
    assert!(matches!(answer, Err(OtpStatusError::NotFound)));
}

#[tokio::test]
async fn a_request_is_found_in_the_callers_project_and_mode() {
    let mut world = World::test();
    let otp = world.on_record();
    let (found, line) = (otp.clone(), &world.line);
    let port = world.otps.expect_find().with(eq(line.project_mode), eq(otp.id));
    port.times(1).returning(move |_, _| Ok(Some(found.clone())));
    assert_eq!(status(&mut world, &otp.id.to_string()).await.unwrap(), otp);
}

#[tokio::test]
async fn what_the_tenant_does_not_have_is_not_found() {
    let mut world = World::live();
    world.otps.expect_find().times(1).returning(|_, _| Ok(None));
    let id: OtpId = world.make.id();
    let answer = status(&mut world, &id.to_string()).await;
    assert!(matches!(answer, Err(OtpStatusError::NotFound)));
}

#[tokio::test]
async fn a_store_out_of_reach_is_told_as_such() {
    let mut world = World::live();
    world.otps.expect_find().returning(|_, _| Err(down()));
    let id: OtpId = world.make.id();
    let answer = status(&mut world, &id.to_string()).await;
    assert!(matches!(answer, Err(OtpStatusError::Store(_))));
}
