/** What stands where words were taken out by a deletion, by its kind. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  session_deleted_by_owner: "[redacted-session-deleted]",
  session_deleted_by_admin: "[redacted-session-deleted]",
  account_erasure_session_redacted: "[redacted-account-erasure]",
  retention_session_redacted: "[redacted-retention]",
};

/** What stands for the words of a segment whose span or speaker was redacted. */
export const REDACTED_SPAN = "[redacted-span]";

/** The placeholder of a deleted session's words; `kind` may be unknown of an old deletion. */
export function deletionPlaceholder(kind: string | undefined): string {
  return PLACEHOLDERS[kind ?? ""] ?? "[redacted-session-deleted]";
}
