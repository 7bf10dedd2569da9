//! Manual bookings: nothing moves before the confirmation, and then once.

use crate::support::House;
use dwar_kernel::{KeyMode, OtpId};
use dwar_operator::{Action, AuditFilter, Role};
use dwar_testkit::{Fixtures, START};
use dwar_wallet::{Paise, Settlement};

const CONFIRMED: (&str, &str) = ("confirmed", "yes");

impl House {
    pub async fn balance(&self) -> i64 {
        self.parts.stores.wallets.balance(self.project).await.unwrap().balance.0
    }

    /// A send that cost a quarter of a rupee.
    pub async fn charged(&self) -> OtpId {
        let (make, stores) = (Fixtures::random(), &self.parts.stores);
        let otp = make.otp(&make.line(self.project.in_mode(KeyMode::Live)));
        let (send, entries) = (otp.id, [make.id(), make.id()]);
        assert!(make.hold(&*stores.logins, otp, Paise(40)).await);
        let spent = Settlement::Capture(Paise(25));
        assert!(stores.wallets.settle(self.project, send, spent, entries, START).await.unwrap());
        send
    }

    async fn entries_of(&self, action: Action) -> usize {
        let filter = AuditFilter { action: Some(action), ..AuditFilter::default() };
        self.kept.audit.page(filter, None, 100).await.unwrap().len()
    }
}

#[actix_web::test]
async fn a_booking_is_previewed_then_confirmed_and_made_once() {
    let house = House::new().await;
    let owner = house.with_role(Role::Owner).await;
    let send = house.charged().await.to_string();
    let wallet = house.page("wallet");
    let mut balance = 12_345_625;
    for (form, action, fields, [amount, after], (adds, done, again)) in [
        (
            "credit",
            Action::WalletCredited,
            vec![("rupees", " 100.50 "), ("reference", "INV <7>")],
            ["+₹100.50", "₹1,23,556.75"],
            (10_050, "credited", "known"),
        ),
        (
            "refund",
            Action::WalletRefunded,
            vec![("otp_id", send.as_str())],
            ["+₹0.25", "₹1,23,557.00"],
            (25, "refunded", "refunded-before"),
        ),
        (
            "adjustment",
            Action::WalletAdjusted,
            vec![("correction", "−7"), ("reason", "typo")],
            ["−₹7.00", "₹1,23,550.00"],
            (-700, "adjusted", "known"),
        ),
    ] {
        let path = format!("{wallet}/{form}");
        let preview = owner.post(&path, &fields).await;
        assert_eq!(preview.status, 200, "{form}");
        for part in [amount, after, "Nothing has moved yet", "name=\"confirmed\""] {
            assert!(preview.body.contains(part), "{form}, {part}: {}", preview.body);
        }
        assert!(!preview.body.contains("<7>"), "{form}");
        assert_eq!((house.balance().await, house.entries_of(action).await), (balance, 0), "{form}");

        let confirmed = [fields.as_slice(), &[CONFIRMED]].concat();
        balance += adds;
        for word in [done, again] {
            let reply = owner.post(&path, &confirmed).await;
            let location = format!("{wallet}?done={word}");
            assert_eq!(
                (reply.status, reply.header("location")),
                (303, location.as_str()),
                "{form}"
            );
            let page = owner.get(&location).await.body;
            assert!(page.contains("class=\"notice good\""), "{word}: {page}");
            assert_eq!(house.balance().await, balance, "{form}");
        }
        let reply = owner.post(&path, &fields).await;
        assert_eq!(reply.header("location"), format!("{wallet}?done={again}"), "seen beforehand");
    }
}

#[actix_web::test]
async fn what_cannot_be_booked_comes_back_as_it_was_typed() {
    let house = House::new().await;
    let owner = house.with_role(Role::Owner).await;
    let before = house.balance().await;
    let nobody = "0199a000-0000-7000-8000-000000000000";
    for (form, fields, status, field) in [
        ("credit", [("rupees", "ten"), ("reference", "INV-7")], 422, "rupees"),
        ("credit", [("rupees", "0"), ("reference", "INV-7")], 422, "rupees"),
        ("credit", [("rupees", "5"), ("reference", " ")], 422, "reference"),
        ("credit", [("rupees", "10000000000"), ("reference", "INV-7")], 409, "rupees"),
        ("refund", [("otp_id", "12345"), ("x", "")], 422, "otp_id"),
        ("refund", [("otp_id", nobody), ("x", "")], 409, "otp_id"),
        ("adjustment", [("correction", "0"), ("reason", "typo")], 422, "correction"),
        ("adjustment", [("correction", "-123456.51"), ("reason", "typo")], 409, "correction"),
        ("adjustment", [("correction", "-5"), ("reason", "")], 422, "reason"),
    ] {
        for confirmed in [&[][..], &[CONFIRMED]] {
            let fields = [fields.as_slice(), confirmed].concat();
            let refused = owner.post(&house.page(&format!("wallet/{form}")), &fields).await;
            assert_eq!(refused.status, status, "{form} {fields:?}");
            let error = format!("id=\"{field}-error\"");
            let typed = format!("value=\"{}\"", fields[0].1);
            for part in [error.as_str(), &typed, "name=\"booking\" open"] {
                assert!(refused.body.contains(part), "{part}: {}", refused.body);
            }
        }
    }
    assert_eq!(house.balance().await, before);
}

#[actix_web::test]
async fn only_who_may_book_sees_the_forms() {
    let house = House::new().await;
    let forms =
        ["credit", "refund", "adjustment"].map(|form| house.page(&format!("wallet/{form}")));
    let owner = house.with_role(Role::Owner).await.get(&house.page("wallet")).await.body;
    let viewer = house.with_role(Role::Viewer).await.get(&house.page("wallet")).await.body;
    for form in forms {
        let action = format!("action=\"{form}\"");
        assert!(owner.contains(&action) && !viewer.contains(&action), "{form}");
    }
}
