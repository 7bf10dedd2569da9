-- Since when the API keys of a project are refused; NULL while it is in use.
ALTER TABLE projects ADD COLUMN archived_at timestamptz;
