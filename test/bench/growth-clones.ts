import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../../src/base/ids.ts";
import type { GrowthFixture } from "./growth-fixture.ts";

/** Tables with rows of a session whose columns can all be written; of segments one is computed. */
const TABLES = ["events", "chunks", "checkpoints"];
const SEGMENT = "id, attempt, start_sample, end_sample, label, text, words, confidence, language";

/**
 * As many more sessions as one that recorded and fell silent, each with a device of its own: their
 * rows and their sound are copied, as starting each would take a quarter of an hour. The service is
 * stopped meanwhile; it takes them up from the record.
 */
export async function cloneSession(
  fixture: GrowthFixture,
  templateId: string,
  count: number,
): Promise<string[]> {
  const { owner } = fixture.fixture;
  const clones = Array.from({ length: count }, newId);
  await owner.query(
    `create temporary table clones as
     select *, gen_random_uuid() as device, gen_random_uuid() as job, gen_random_uuid() as chunk
     from unnest($1::uuid[]) as c (id)`,
    [clones],
  );
  await owner.query(
    `insert into devices (id, serial, status, workspace_id, owner_id, last_seen_at, pairing_secret_hash)
     select c.device, 'clone', 'paired', s.workspace_id, s.owner_id, now(),
       sha256(c.device::text::bytea)
     from clones as c, sessions as s where s.id = $1`,
    [templateId],
  );
  await copyRows(fixture, "sessions", "id", templateId);
  await copyRows(fixture, "jobs", "session_id", templateId);
  for (const table of TABLES) await copyRows(fixture, table, "session_id", templateId);
  await owner.query(
    `insert into segments (session_id, ${SEGMENT})
     select c.clone, ${SEGMENT}
     from segments, (select id as clone from clones) as c where session_id = $1`,
    [templateId],
  );
  await owner.query("drop table clones");
  copySound(fixture.fixture.blobFolder, templateId, clones);
  return clones;
}

/** Every id of the template that a row holds becomes that of the clone. */
async function copyRows(
  { fixture: { owner } }: GrowthFixture,
  table: string,
  key: string,
  templateId: string,
): Promise<void> {
  await owner.query(
    `insert into ${table}
     select (jsonb_populate_record(null::${table}, replace(replace(replace(replace(
         to_jsonb(t)::text, s.id::text, c.id::text), s.device_id::text, c.device::text),
         s.job_id::text, c.job::text), k.id::text, c.chunk::text)::jsonb)).*
     from sessions as s
     join chunks as k on k.session_id = s.id and k.sequence = 0
     join ${table} as t on t.${key} = s.id
     cross join clones as c
     where s.id = $1`,
    [templateId],
  );
}

function copySound(folder: string, templateId: string, clones: readonly string[]): void {
  const from = join(folder, templateId);
  const names = readdirSync(from);
  for (const id of clones) {
    mkdirSync(join(folder, id));
    for (const name of names) copyFileSync(join(from, name), join(folder, id, name));
  }
}
