use crate::common::{BY, Office};
use dwar_console::{Booking, ManageError, Preview};
use dwar_kernel::{KeyMode, OtpId, ProjectId};
use dwar_operator::{Access, Requester, Role};
use dwar_testkit::START;
use dwar_wallet::{Amount, Correction, Paise, Settlement};

fn credit(paise: u32, reference: &str) -> Booking {
    Booking::Credit { amount: Amount::from(paise), reference: reference.parse().unwrap() }
}

fn adjustment(paise: i64, reference: &str) -> Booking {
    let amount = Correction::try_from(paise).unwrap();
    Booking::Adjustment { amount, reference: reference.parse().unwrap() }
}

/// A send that holds two rupees, and was charged the price if there is one.
async fn send(office: &Office, project: ProjectId, price: Option<i64>) -> OtpId {
    let (make, stores) = (&office.make, &office.stores);
    let otp = make.otp(&make.line(project.in_mode(KeyMode::Live)));
    let send = otp.id;
    assert!(make.hold(&*stores.logins, otp, Paise(200)).await);
    if let Some(price) = price {
        let (entries, settlement) = ([make.id(), make.id()], Settlement::Capture(Paise(price)));
        assert!(stores.wallets.settle(project, send, settlement, entries, START).await.unwrap());
    }
    send
}

fn said(answer: Result<Option<Preview>, ManageError>) -> Result<Option<Paise>, String> {
    let preview = answer.map_err(|cause| cause.to_string())?;
    Ok(preview.map(|preview| preview.amount))
}

#[tokio::test]
async fn a_preview_says_what_the_booking_then_does() {
    let office = Office::open();
    let (project, other) = (office.project().await, office.project().await);
    let wallets = &office.manage.wallets;
    wallets.credit(&BY, project, Amount::from(1_000), None).await.unwrap();
    wallets.credit(&BY, other, Amount::from(1_000), None).await.unwrap();
    let charged = send(&office, project, Some(25)).await;
    let open = send(&office, project, None).await;
    let theirs = send(&office, other, Some(20)).await;
    let refund = |send| Booking::Refund { send };
    let most = u32::MAX;
    let bookings = [
        credit(500, "invoice 7"),
        credit(500, "invoice 7"),
        // The same reference in another project, or of another kind, is another booking.
        adjustment(7, "invoice 7"),
        adjustment(-775, "typo"),
        adjustment(-775, "typo"),
        adjustment(-100_000, "too much"),
        adjustment(1_000_000_000_000, "more than a wallet holds"),
        credit(0, "nothing"),
        refund(charged),
        refund(charged),
        refund(open),
        refund(theirs),
        credit(most, "last"),
    ];
    let mut told = Vec::new();
    for booking in bookings {
        let before = wallets.balance(&BY, project).await.unwrap();
        let preview = wallets.preview(&BY, project, &booking).await;
        assert_eq!(wallets.balance(&BY, project).await.unwrap(), before, "{booking:?}");
        let booked = wallets.book(&BY, project, booking.clone()).await;
        let after = wallets.balance(&BY, project).await.unwrap();
        match &preview {
            Ok(Some(seen)) => {
                assert!(booked.unwrap(), "{booking:?}");
                assert_eq!((seen.before, seen.after), (before, after), "{booking:?}");
                assert_eq!(after.balance.0 - before.balance.0, seen.amount.0, "{booking:?}");
            }
            Ok(None) => assert!(!booked.unwrap(), "{booking:?}"),
            Err(cause) => {
                assert_eq!(booked.unwrap_err().to_string(), cause.to_string(), "{booking:?}");
            }
        }
        told.push(said(preview));
    }
    let refused = |text: &str| Err(text.to_owned());
    assert_eq!(
        told,
        [
            Ok(Some(Paise(500))),
            Ok(None),
            Ok(Some(Paise(7))),
            Ok(Some(Paise(-775))),
            Ok(None),
            refused("The available balance does not cover this."),
            refused("The balance cannot exceed a thousand crore rupees."),
            refused("more than zero"),
            Ok(Some(Paise(25))),
            Ok(None),
            refused("Nothing was charged for this send."),
            refused("Nothing was charged for this send."),
            Ok(Some(Paise(i64::from(most)))),
        ]
    );
}

#[tokio::test]
async fn who_may_not_book_sees_no_preview() {
    let office = Office::open();
    let project = office.project().await;
    let bookings =
        [credit(5, "a"), adjustment(-5, "a"), Booking::Refund { send: office.make.id() }];
    for role in [Role::Member, Role::Support, Role::Viewer] {
        let by = Requester { access: Access::one(project, role), ..Requester::command_line() };
        for booking in &bookings {
            let preview = office.manage.wallets.preview(&by, project, booking).await;
            assert!(matches!(preview, Err(ManageError::Forbidden)), "{role:?} {booking:?}");
        }
    }
}
