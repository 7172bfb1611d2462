const MESSAGES = {
  "08006": "Connection terminated unexpectedly",
  ECONNREFUSED: "connect ECONNREFUSED",
  "21000": "ON CONFLICT DO UPDATE command cannot affect row a second time",
  "23505": "duplicate key value violates unique constraint",
  "23503": "insert or update on table violates foreign key constraint",
  "25006": "cannot execute in a read-only transaction",
  "25P02": "current transaction is aborted, commands ignored until end of transaction block",
  "25P03": "terminating connection due to idle-in-transaction timeout",
  "40P01": "deadlock detected",
  "57014": "canceling statement due to statement timeout",
  "57P01": "terminating connection due to administrator command",
} as const;

export type DatabaseErrorCode = keyof typeof MESSAGES;

/** An error as the driver of PostgreSQL gives it. */
export function databaseError(code: DatabaseErrorCode): Error {
  return Object.assign(new Error(MESSAGES[code]), { code });
}
