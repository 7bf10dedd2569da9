//! Wallets, statements and proofs.

use super::{Program, json_of, with_code};
use crate::support::House;
use actix_web::http::Method;
use dwar_operator::Role;
use dwar_testkit::START;
use dwar_wallet::ProofRun;
use serde_json::json;
use std::collections::BTreeSet;

#[actix_web::test]
async fn money_moves_once_per_reference_and_is_proven() {
    let house = House::new().await;
    let owner = Program::owner(&house).await;
    let before =
        json_of(&owner.get(&owner.own("/wallet")).await)["balance_paise"].as_i64().unwrap();
    let credit = json!({"amount_paise": 700, "reference": "UTR 1"});
    for (booked, balance) in [(true, before + 700), (false, before + 700)] {
        let moved = json_of(&owner.post(&owner.own("/wallet/credits"), credit.clone()).await);
        assert_eq!(
            (&moved["booked"], &moved["wallet"]["balance_paise"]),
            (&json!(booked), &json!(balance))
        );
    }
    let adjust = owner.own("/wallet/adjustments");
    let down = json!({"amount_paise": -200, "reference": "typo"});
    let moved = json_of(&owner.post(&adjust, down).await);
    assert_eq!(moved["wallet"]["balance_paise"], before + 500);
    let over =
        owner.post(&adjust, json!({"amount_paise": -99_999_999_999_i64, "reference": "y"})).await;
    assert_eq!(over.status, 409, "{}", over.body);
    for paise in [i64::MAX, i64::MIN, 1_000_000_000_001] {
        let far = json!({"amount_paise": paise, "reference": "far"});
        assert_eq!(owner.post(&adjust, far).await.status, 422, "{paise}");
    }
    let refund = json!({"otp_id": "0199a000-0000-7000-8000-000000000000"});
    assert_eq!(owner.post(&owner.own("/wallet/refunds"), refund).await.status, 409);
    let entries = json_of(&owner.get(&owner.own("/wallet/entries?limit=1")).await);
    assert_eq!(entries["items"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&entries["items"][0]["amount_paise"], &entries["items"][0]["kind"]),
        (&json!(-200), &json!("adjustment"))
    );
    let proof = json_of(&owner.post("/wallets/proof", json!({})).await);
    assert_eq!(proof["difference_paise"], 0);
}

#[actix_web::test]
async fn a_statement_is_filtered_paged_and_streamed_as_harmless_csv() {
    let house = House::new().await;
    let viewer = Program::role(&house, Role::Viewer).await;
    for number in 0..1_203 {
        house.paid_in(house.project, 5, &format!("no {number}"), 1).await;
    }
    house.paid_in(house.project, 12_345, "=cmd|' /C calc'!A0", 3).await;
    house.paid_in(house.other, 100, "of another project", 3).await;
    let entries = viewer.own("/wallet/entries");
    let all = viewer.all(&format!("{entries}?limit=500")).await;
    let positions: Vec<u64> = all.iter().map(|it| it["position"].as_u64().unwrap()).collect();
    assert_eq!(positions.len(), 1_203 + 2);
    assert!(positions.is_sorted_by(|one, next| one > next), "each once");
    let day = "since=2027-01-18T00:00:00Z&until=2027-01-19T00:00:00Z";
    let found = viewer.all(&format!("{entries}?{day}")).await;
    assert_eq!((found.len(), &found[0]["amount_paise"]), (1, &json!(12_345)));
    assert_eq!(viewer.all(&format!("{entries}?reference=no%207")).await.len(), 1);
    assert_eq!(viewer.all(&format!("{entries}?kind=capture")).await.len(), 0);
    for query in ["kind=gift", "since=yesterday", "cursor=2027", "limit=0"] {
        let refused = viewer.refused(Method::GET, &format!("{entries}?{query}"), json!({})).await;
        assert_eq!(refused, with_code(422, "INVALID_FIELD"), "{query}");
    }

    let file = viewer.own("/wallet/statement.csv");
    let looks = || house.store.faults().calls("LedgerStore::lines");
    let before = looks();
    let mut stream = house.stream(viewer.request(Method::GET, &file)).await;
    assert_eq!(stream.status, 200);
    let type_of = stream.header(actix_web::http::header::CONTENT_TYPE).to_owned();
    assert_eq!(type_of, "text/csv; charset=utf-8");
    let first = stream.next().await;
    let head = first.lines().next().unwrap();
    let named = |column: &&str| !column.ends_with("_rupees");
    let columns: BTreeSet<&str> = head.split(',').filter(named).collect();
    let fields = found[0].as_object().unwrap().keys().map(String::as_str);
    assert_eq!(columns, fields.collect(), "an entry has the same names in both");
    let read = (first.lines().count(), looks() - before);
    assert_eq!(read, (1 + 500, 1), "nothing more is read before this is taken");
    assert!(first.contains(r#","'=cmd|' /C calc'!A0",12345,"#), "no formula");
    let csv = viewer.get(&file).await.body;
    assert_eq!(csv.lines().count(), 1 + 1_203 + 2);
    assert!(!csv.contains("of another project"));
    assert_eq!(viewer.get(&format!("{file}?{day}")).await.body.lines().count(), 2);
    for query in ["limit=5", "cursor=x"] {
        let refused = viewer.refused(Method::GET, &format!("{file}?{query}"), json!({})).await;
        assert_eq!(refused, with_code(422, "INVALID_FIELD"), "{query}");
    }
}

#[actix_web::test]
async fn a_proof_is_begun_once_and_kept() {
    let house = House::new().await;
    let owner = Program::role(&house, Role::Owner).await;
    let path = owner.own("/wallet/proof");
    assert_eq!(owner.json(&path).await, json!({"last": null, "running": null}));
    let (sound, made) = ("LedgerStore::last_sound_proof", "LedgerStore::end_proof");
    let calls = |step| house.store.faults().calls(step);
    for (number, everything) in [(1, false), (2, true)] {
        let begun = json_of(&owner.post(&path, json!({"everything": everything})).await);
        assert_eq!(
            (&begun["begun"], &begun["running"]["by"]),
            (&json!(true), &json!("token deploy"))
        );
        while calls(made) < number {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(calls(sound), 1, "everything begins at the first entry");
    let found = owner.json(&path).await;
    let last = &found["last"];
    assert_eq!((&last["sound"], &last["by"]), (&json!(true), &json!("token deploy")));
    assert_eq!((&last["entries"], &last["balance_paise"]), (&json!(1), &json!(12_345_650)));

    let run = ProofRun::begin(house.project, "Ravi".to_owned(), START);
    house.kept.ledger.begin_proof(run).await.unwrap();
    let second = json_of(&owner.post(&path, json!({})).await);
    assert_eq!((&second["begun"], &second["running"]["by"]), (&json!(false), &json!("Ravi")));
    assert_eq!(owner.json(&path).await["running"]["by"], "Ravi");
    assert_eq!(house.proofs_asked_for().await, 2);
    let viewer = Program::role(&house, Role::Viewer).await;
    assert_eq!(viewer.get(&path).await.status, 200);
    let refused = viewer.refused(Method::POST, &path, json!({})).await;
    assert_eq!(refused, with_code(403, "FORBIDDEN"));
}
