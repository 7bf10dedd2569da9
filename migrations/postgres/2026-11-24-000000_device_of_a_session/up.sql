-- In which browser an operator signed in, as in "Chrome on Windows".
ALTER TABLE operator_sessions ADD COLUMN device text;
