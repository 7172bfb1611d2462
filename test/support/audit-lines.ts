import { type DatabasePool, sql } from "slonik";
import { z } from "zod";

export interface AuditLine {
  kind: string;
  actor: string | null;
  detail: Record<string, unknown>;
}

const line = z.object({
  kind: z.string(),
  actor: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()),
});

/** What the audit log says of a subject, oldest first. */
export async function auditLines(pool: DatabasePool, subjectId: string): Promise<AuditLine[]> {
  return [
    ...(await pool.any(sql.type(line)`
      select kind, actor_id as actor, detail from audit_log
      where subject_id = ${subjectId} order by seq`)),
  ];
}
