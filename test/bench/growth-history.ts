import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "../../src/base/ids.ts";
import { SessionJournal } from "../../src/journal/session-journal.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { CHECKPOINT_INTERVAL } from "../../workers/speech/checkpoint-pace.ts";
import { commandsOf, wake } from "./growth-actor.ts";
import type { GrowthDevice } from "./growth-device.ts";
import type { GrowthFixture } from "./growth-fixture.ts";
import { CHUNK_FRAMES, CHUNK_SAMPLES, type ScriptedState, SOUND } from "./growth-script.ts";

/** Chunks of one turn. */
const TOGETHER = 32;
/** Behind a checkpoint, and the chunk before it. */
const HEARD_AGAIN = CHECKPOINT_INTERVAL / CHUNK_SAMPLES + 2;

/**
 * Brings sessions to their lengths without the hours that sending all of it would take: the chunks'
 * rows are written as the front does, and everything else by the session's own actor, turn by turn.
 * The service is stopped meanwhile, so that nobody is fenced.
 */
export async function writeHistories(
  fixture: GrowthFixture,
  devices: readonly { device: GrowthDevice; chunks: number }[],
  state: ScriptedState,
): Promise<void> {
  const pool = await createPool(fixture.fixture.database.serviceUrl, { maximumPoolSize: 2 });
  const journal = new SessionJournal(pool);
  try {
    for (const { device, chunks } of devices) {
      await writeChunks(fixture, device, chunks, async (ids) => {
        const actor = await wake(device.sessionId, journal);
        for (let n = 0; n < ids.length; n += TOGETHER) {
          const asked = ids.slice(n, n + TOGETHER).flatMap((id, i) => {
            const { stored, heard } = commandsOf(device.chunks + n + i, state, id);
            return [actor.ask(stored, newId()), actor.ask(heard, newId())];
          });
          await Promise.all(asked);
        }
        await actor.drain();
      });
      device.chunks = chunks;
    }
    // As the autovacuum would have in those hours.
    await fixture.fixture.owner.query("analyze");
  } finally {
    await pool.end();
  }
}

/** Their rows; `tell` has them placed and transcribed. */
async function writeChunks(
  fixture: GrowthFixture,
  { sessionId, chunks: from }: GrowthDevice,
  to: number,
  tell: (ids: readonly string[]) => Promise<void>,
): Promise<void> {
  const ids = Array.from({ length: to - from }, () => newId());
  await fixture.fixture.owner.query(
    `insert into chunks (session_id, sequence, id, media_type, bytes, sha256, frames, sample_rate,
       duration_seconds)
     select $1::uuid, $2::int + n - 1, id, $6, $4::int, sha256(id::text::bytea), $4::int, $5::int,
       $4::float8 / $5
     from unnest($3::uuid[]) with ordinality as t (id, n)`,
    [sessionId, from, ids, CHUNK_FRAMES, SOUND.sampleRate, SOUND.mediaType],
  );
  // Who takes the session up reads on from the chunk before its checkpoint.
  for (const id of ids.slice(-HEARD_AGAIN)) storeSound(fixture, sessionId, id);
  await tell(ids);
}

function storeSound({ fixture }: GrowthFixture, sessionId: string, chunkId: string): void {
  const folder = join(fixture.blobFolder, sessionId);
  mkdirSync(folder, { recursive: true });
  const name = createHash("sha256").update(chunkId).digest("hex");
  writeFileSync(join(folder, name), Buffer.alloc(CHUNK_FRAMES));
}
