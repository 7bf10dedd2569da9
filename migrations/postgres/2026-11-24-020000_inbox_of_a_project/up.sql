-- The newest messages of test mode, to all phones of a project.
CREATE INDEX sandbox_messages_by_project ON sandbox_messages (project_id, id);
