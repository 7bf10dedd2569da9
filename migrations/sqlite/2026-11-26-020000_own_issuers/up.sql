-- Whether live tokens of a project name an issuer of its own, and what they say beside the claims of every token, a line
-- `name=value` for each.
ALTER TABLE projects ADD COLUMN own_issuer boolean NOT NULL DEFAULT false;
ALTER TABLE projects ADD COLUMN token_claims text;
