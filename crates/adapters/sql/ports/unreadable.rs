use crate::dialect::Store;
use diesel::prelude::*;
use dwar_event::Endpoint;
use dwar_kernel::StoreError;
use dwar_operator::{AdminToken, OneTimeLink, Operator, Passkey};
use dwar_project::{Hook, KeyRecord, Project};
use dwar_sql::schema::{
    admin_tokens, api_keys, hooks, operator_links, operator_passkeys, operators, projects,
    wallet_holds, webhook_endpoints,
};
use dwar_sql::{
    AdminTokenRow, EndpointRow, HoldRow, HookRow, KeyRow, LinkRow, OperatorRow, PasskeyRow,
    ProjectRow,
};
use dwar_wallet::OpenHold;

/// Appends the error of each row of these tables that cannot be decoded.
macro_rules! look_through {
    ($found:ident, $conn:ident: $($table:ident by $row:ident as $domain:ty;)+) => {$(
        let rows: Vec<$row> = $table::table.select($row::as_select()).load($conn)?;
        $found.extend(rows.into_iter().filter_map(|row| <$domain>::try_from(row).err()));
    )+};
}

impl Store {
    /// Returns an error for each row that cannot be decoded, in the tables of settings and of open
    /// holds. Lists and background work skip such rows; a request for one of them fails.
    pub async fn unreadable(&self) -> Result<Vec<StoreError>, StoreError> {
        self.scan("unreadable.unreadable", |conn| {
            let mut found: Vec<StoreError> = Vec::new();
            look_through! {
                found, conn:
                projects by ProjectRow as Project;
                api_keys by KeyRow as KeyRecord;
                hooks by HookRow as Hook;
                webhook_endpoints by EndpointRow as Endpoint;
                operators by OperatorRow as Operator;
                operator_links by LinkRow as OneTimeLink;
                operator_passkeys by PasskeyRow as Passkey;
                admin_tokens by AdminTokenRow as AdminToken;
                wallet_holds by HoldRow as OpenHold;
            }
            Ok(found)
        })
        .await
    }
}
