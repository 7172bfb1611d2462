-- Why no engine could read the language that a session inherited, told until one begins to.
alter table sessions add column language_warning text;
