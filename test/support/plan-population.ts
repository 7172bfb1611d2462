import pg from "pg";
import { newId } from "../../src/base/ids.ts";

export interface Population {
  sessions: number;
  /** Of each session; as many events, and of every fourth as many segments. */
  chunks: number;
  /** Commands that rest or are parked, of other sessions each. */
  commands: number;
}

/** Of one workspace that recorded for long: who it belongs to. */
export interface Populated {
  workspaceId: string;
  ownerId: string;
}

/** 4 s of audio. */
export const CHUNK_SAMPLES = 64_000;

/** A UUID as the service makes them, by its version and variant. */
const id = (of: string, n: string) =>
  `overlay(overlay(md5(${of} || ${n}) placing '7' from 13) placing '8' from 17)::uuid`;

/**
 * Fills the tables as years of sessions do, and has their statistics made. `adminUrl`: of a
 * superuser, who may leave the checks of every single row out.
 */
export async function populate(
  adminUrl: string,
  { sessions, chunks, commands }: Population,
): Promise<Populated> {
  const [workspaceId, ownerId] = [newId(), newId()];
  const run = (text: string, values: unknown[] = []) => ({ text, values });
  const statements = [
    run("insert into users (id, email, role) values ($1, 'years@example.org', 'participant')", [
      ownerId,
    ]),
    run("insert into workspaces (id, name) values ($1, 'Years')", [workspaceId]),
    run(
      `insert into devices (id, serial, status, workspace_id, owner_id, pairing_secret_hash)
       select ${id("'device'", "n")}, 'years', 'paired', $1, $2, decode(md5(n::text), 'hex')
       from generate_series(1, 20) n`,
      [workspaceId, ownerId],
    ),
    run(
      `insert into sessions (id, workspace_id, owner_id, device_id, job_id, status,
         seq, work_seq, has_work, last_chunk_sequence, started_at, stopped_at, completed_at, title,
         external_id, metadata, tags)
       select ${id("'session'", "n")}, $1, $2, ${id("'device'", "1 + n % 20")},
         ${id("'job'", "n")}, 'completed', $4, $4, false, $5, now() - n * interval '1 hour', now(), now(),
         'Weekly meeting ' || n, 'meeting-' || n, jsonb_build_object('number', n::text),
         array['room ' || n % 100] || case when n % 2 = 0 then '{even}'::text[] else '{}' end
       from generate_series(1, $3::int) n`,
      [workspaceId, ownerId, sessions, chunks, chunks - 1],
    ),
    run(
      `insert into session_listings
       select id, workspace_id, owner_id, visibility, false, started_at, folded_text(title),
         title_words(title), external_id, 1000 * (partition_of(id) % 97), listing_keys_of(sessions)
       from sessions`,
    ),
    run(
      `insert into speaker_names (id, session_id, label, display_name, by_user_id)
       select gen_random_uuid(), id, 'S1', 'Speaker ' || right(title, 2), owner_id from sessions`,
    ),
    run(
      `insert into speaker_claims (session_id, label, source, claimed_user_id, by_user_id)
       select id, 'S2', 'self_claim', owner_id, owner_id from sessions where right(title, 1) = '7'
       union all
       select id, 'S3', 'self_claim', device_id, device_id from sessions
       union all
       select id, 'S4', 'self_claim', id, id from sessions`,
    ),
    run(
      `insert into jobs (id, kind, session_id, workspace_id, status, progress, duration_ms)
       select job_id, 'transcription', id, workspace_id, 'completed', 1,
         1000 * (partition_of(id) % 97) from sessions`,
    ),
    run(
      `insert into chunks (session_id, sequence, id, media_type, bytes, sha256, frames, sample_rate,
         duration_seconds, status, start_sample, length_samples)
       select s.id, n, gen_random_uuid(), 'audio/wav', 1, sha256(''), $2::bigint, 16000, 4, 'completed',
         n * $2::bigint, $2::bigint
       from sessions s, generate_series(0, $1::int - 1) n`,
      [chunks, CHUNK_SAMPLES],
    ),
    run(
      `insert into events (session_id, seq, epoch, at, type, payload)
       select s.id, n, 1, now(), 'ChunkPlaced', '{"type": "ChunkPlaced"}'
       from sessions s, generate_series(1, $1::int) n`,
      [chunks],
    ),
    run(
      `insert into segments (session_id, id, attempt, start_sample, end_sample, label, text, words,
         confidence, language)
       select s.id, gen_random_uuid(), 1, n * $2::bigint, (n + 1) * $2::bigint, 'S1',
         'budget word' || n, '[]', 0.9, 'en'
       from sessions s, generate_series(0, $1::int - 1) n where partition_of(s.id) % 4 = 0`,
      [chunks, CHUNK_SAMPLES],
    ),
    // Damaged once, and whole again: those that are not are looked for all the time.
    run(
      `insert into damaged_audio (session_id, sequence, kind, mended_at)
       select session_id, sequence, 'changed', now() from chunks where sequence % 20 = 7`,
    ),
    run(
      `insert into command_outcomes (session_id, command_id, outcome)
       select id, gen_random_uuid(), '{}' from sessions, generate_series(1, 5)`,
    ),
    run(
      `insert into outbox (id, session_id, command, attempts, not_before, parked_at)
       select gen_random_uuid(), id, '{"type": "Stop"}', 9, now() + interval '1 day',
         case when n % 2 = 0 then now() end
       from (select id, n from sessions, generate_series(1, 20) n limit $1) as s`,
      [commands],
    ),
  ];
  const client = new pg.Client(adminUrl);
  await client.connect();
  try {
    await client.query("set session_replication_role = replica");
    for (const { text, values } of statements) await client.query(text, values);
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
  return { workspaceId, ownerId };
}
