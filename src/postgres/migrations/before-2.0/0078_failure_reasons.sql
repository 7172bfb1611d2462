-- Why a session ended without a text; absent of those that an earlier release ended.
alter table sessions add column failure_reason text;
