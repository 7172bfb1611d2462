import { type DatabasePool, sql } from "slonik";
import { z } from "zod";

const settingRow = z.object({ name: z.string(), setting: z.string(), source: z.string() });

/** Settings that acknowledged audio needs, and what may happen without them. */
const NEEDED: Readonly<Record<string, string>> = {
  fsync: "a power failure can take what was stored, or damage the whole database",
  full_page_writes: "a power failure can damage pages that were half written",
  synchronous_commit: "a crash takes the audio of the last moments that devices were told is safe",
};

/**
 * Checks whether the database keeps what it has acknowledged. Returns a sentence for each wrong
 * setting: its name, why it matters and how to set it. Empty when the database is durable.
 */
export async function durabilityFaults(pool: DatabasePool): Promise<string[]> {
  const rows = await pool.any(sql.type(settingRow)`
    select name, setting, source from pg_settings
    where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'
    order by name`);
  return rows.map((row) => `${row.name} is off: ${NEEDED[row.name]}; ${remedyOf(row)}.`);
}

function remedyOf({ name, source }: z.output<typeof settingRow>): string {
  if (source === "user" || source === "database" || source === "database user") {
    return `it is set for this role or database: ALTER ROLE … RESET ${name}, or ALTER DATABASE … RESET ${name}`;
  }
  if (source === "command line") return `it is set where the server is started (-c ${name}=off)`;
  return `ALTER SYSTEM SET ${name} = on; SELECT pg_reload_conf()`;
}
