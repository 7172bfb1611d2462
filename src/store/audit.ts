import type { DatabasePool } from "slonik";
import type { AuditEntry, AuditTrail } from "../auth/audit-trail.ts";
import { insertAuditEntry } from "./audit-entries.ts";
import { guarded } from "./store-error.ts";

/** The audit log in PostgreSQL. */
export class PostgresAuditTrail implements AuditTrail {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  record(entry: AuditEntry): Promise<void> {
    return guarded(() => insertAuditEntry(this.#pool, entry));
  }
}
