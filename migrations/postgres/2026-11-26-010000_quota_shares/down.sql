DROP TABLE quota_shares;
