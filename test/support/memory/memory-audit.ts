import type { AuditEntry, AuditTrail } from "../../../src/access/audit-entry.ts";

/** Keeps audit entries for a test to look at. */
export class MemoryAudit implements AuditTrail {
  readonly entries: AuditEntry[] = [];

  async record(entry: AuditEntry): Promise<void> {
    this.entries.push(entry);
  }
}
