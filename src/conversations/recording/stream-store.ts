import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../../base/errors.ts";
import type { QueueFigures, QueueOwner } from "../../base/queue-metrics.ts";
import { type Runtime, systemRuntime } from "../../base/runtime.ts";
import { GroupCommit } from "../../postgres/group-commit.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { type OutboxRow, outboxRow, writeOutbox } from "../../postgres/outbox.ts";
import { HELD, whenFree } from "../../postgres/when-free.ts";
import { MAX_SEQUENCE } from "../../session/limits.ts";
import type { SessionPhase } from "../../session/status.ts";
import { saveCount } from "./audio-files/fragment-rows-store.ts";
import type {
  AudioFragment,
  AudioStreamStore,
  PlannedFragment,
  StreamHold,
  StreamSettings,
  TakenStream,
} from "./stream-records.ts";

const phase = z.enum(["recording", "processing", "completed", "failed", "deleted"]);
const sessionRow = z.object({ status: phase, seq: z.number() });
const settingsRow = z.object({
  encoding: z.enum(["pcm_s16le", "mulaw", "opus"]),
  sampleRate: z.number(),
  channels: z.number(),
  framing: z.enum(["packet", "length_prefixed"]),
  interim: z.boolean(),
});
const takenRow = z.object({
  settings: settingsRow,
  epoch: z.number(),
  offset: z.number(),
  sequence: optionalColumn(z.number()),
});
const roomRow = z.object({ mostSeconds: z.number() });
const heldRow = z.object({
  sessionId: z.string(),
  status: phase,
  epoch: z.number(),
  sequence: optionalColumn(z.number()),
  fragments: z.number(),
});
const streamRow = z.object({
  epoch: z.number(),
  sequence: optionalColumn(z.number()),
  fragments: z.number(),
});
const idRow = z.object({ id: z.string() });

interface Addition {
  hold: StreamHold;
  fragment: AudioFragment;
}

const writtenRow = z.object({
  sessionId: z.string(),
  epoch: z.number(),
  sequence: z.number(),
  index: z.number(),
});

/** Key of one connection's fragment: two connections may write fragments of the same number at once. */
function fragmentKey({ sessionId, epoch, sequence, index }: z.output<typeof writtenRow>): string {
  return `${sessionId} ${epoch} ${sequence} ${index}`;
}

/** Sound that a device may bring along from before its session began: a day of it. */
const BUFFERED_SECONDS = 24 * 3_600;

/** Most fragments of all streams of this process that are written in one transaction. */
const MAX_GROUP = 256;

/** Streams and their fragments in PostgreSQL. Fragments that come at the same time share one commit. */
export class PostgresAudioStreams implements AudioStreamStore, QueueOwner {
  readonly #pool: DatabasePool;
  readonly #runtime: Runtime;
  readonly #group: GroupCommit<Addition, Appended>;

  constructor(pool: DatabasePool, runtime: Runtime = systemRuntime) {
    this.#pool = pool;
    this.#runtime = runtime;
    this.#group = new GroupCommit((additions) => this.#appendAll(additions), MAX_GROUP);
  }

  get queues(): readonly QueueFigures[] {
    return [this.#group.figures("audio_pieces")];
  }

  take(
    sessionId: string,
    settings?: StreamSettings,
    accept: (taken: TakenStream) => void = () => {},
  ): Promise<TakenStream> {
    return this.#pool.transaction(async (tx) => {
      const session = await tx.maybeOne(sql.type(sessionRow)`
        select status, seq from sessions where id = ${sessionId} for share`);
      if (session === null) throw new AppError("not_found", "There is no session with this id.");
      assertRecording(session.status);
      const held = await (settings === undefined
        ? takeAgain(tx, sessionId)
        : takeWith(tx, sessionId, settings));
      const nextSequence = (await highestSequence(tx, sessionId)) + 1;
      const { mostSeconds } = await tx.one(sql.type(roomRow)`
        select extract(epoch from now() - started_at)::float8 + ${BUFFERED_SECONDS}::int - (
          select coalesce(sum(duration_seconds), 0) from chunks c where c.session_id = s.id
        ) as "mostSeconds"
        from sessions s where id = ${sessionId}`);
      const taken = { sessionId, ...session, ...held, nextSequence, mostSeconds };
      accept(taken);
      return taken;
    });
  }

  begin(
    hold: StreamHold,
    after: number | undefined,
    fragment: PlannedFragment,
  ): Promise<{ sequence: number; outbox: OutboxRow[] }> {
    const { sessionId } = hold;
    return this.#pool.transaction(async (tx) => {
      // Locks the row against uploads, stop and deletion, whose decisions depend on the change made
      // here.
      const session = await tx.maybeOne(sql.type(sessionRow)`
        select status, seq from sessions where id = ${sessionId} for update`);
      if (session === null) throw new AppError("not_found", "There is no session with this id.");
      assertRecording(session.status);
      const sequence = (await highestSequence(tx, sessionId)) + 1;
      if (sequence > MAX_SEQUENCE) {
        throw new AppError("session_ended", "The session holds as many chunks as it can take.");
      }
      await saveCount(
        tx,
        sql.fragment`a.session_id = ${sessionId} and a.epoch = ${hold.epoch}
          and a.sequence = ${after ?? null}`,
      );
      const moved = await tx.maybeOne(sql.type(idRow)`
        update audio_streams
        set sequence = ${sequence}, pieces = 1, touched_at = now(),
            offset_bytes = offset_bytes + ${fragment.streamBytes},
            unsealed_bytes = unsealed_bytes + ${fragment.data.byteLength}
        where session_id = ${sessionId} and epoch = ${hold.epoch}
          and sequence is not distinct from ${after ?? null}
        returning session_id as id`);
      if (moved === null) return { sequence: await begunBefore(tx, hold), outbox: [] };
      await insertFirst(tx, sessionId, sequence, fragment);
      const command = { type: "AudioOpened" as const, sequence };
      const row = outboxRow(sessionId, command, this.#runtime.newId());
      await writeOutbox(tx, row);
      return { sequence, outbox: [row] };
    });
  }

  async append(hold: StreamHold, fragment: AudioFragment): Promise<void> {
    await whenFree(this.#runtime, () => this.#group.add({ hold, fragment }));
  }

  /** Writes all fragments in one statement and examines those that were not taken afterwards. */
  async #appendAll(additions: readonly Addition[]): Promise<PromiseSettledResult<Appended>[]> {
    const stored = await insertFragments(this.#pool, additions);
    const isStored = ({ hold, fragment }: Addition): boolean =>
      stored.has(fragmentKey({ ...hold, ...fragment }));
    const left = additions.filter((addition) => !isStored(addition));
    const heldRows = left.length === 0 ? NO_STANDINGS : await this.#heldRows(left);
    return Promise.allSettled(
      additions.map(async (addition) =>
        isStored(addition) ? undefined : explain(addition, heldRows.get(addition.hold.sessionId)),
      ),
    );
  }

  async #heldRows(additions: readonly Addition[]): Promise<ReadonlyMap<string, StreamState>> {
    const ids = sql.array([...new Set(additions.map(({ hold }) => hold.sessionId))], "uuid");
    const rows = await this.#pool.any(sql.type(heldRow)`
      select s.id as "sessionId", s.status, a.epoch, a.sequence, a.pieces as fragments
      from sessions s join audio_streams a on a.session_id = s.id
      where s.id = any(${ids})`);
    return new Map(rows.map((row) => [row.sessionId, row]));
  }
}

/** Undefined when the fragment is stored. */
type Appended = undefined | typeof HELD;
type StreamState = z.output<typeof heldRow>;

const NO_STANDINGS: ReadonlyMap<string, StreamState> = new Map();

/** Explains why a fragment was not taken; undefined when it was stored before. */
function explain({ hold, fragment }: Addition, held: StreamState | undefined): Appended {
  if (held === undefined) throw new AppError("not_found", "There is no session with this id.");
  if (held.epoch !== hold.epoch) throw superseded();
  const { sequence, index } = fragment;
  if (held.sequence === sequence && held.fragments === index + 1) return undefined;
  assertRecording(held.status);
  if (held.sequence === sequence && held.fragments === index) return HELD;
  throw assembledMeanwhile();
}

const TAKEN = sql.fragment`
  audio_streams.epoch, audio_streams.offset_bytes as offset, audio_streams.sequence,
  audio_streams.settings`;

async function takeWith(tx: CommonQueryMethods, sessionId: string, settings: StreamSettings) {
  const before = await tx.maybeOne(sql.type(z.object({ settings: settingsRow }))`
    select settings from audio_streams where session_id = ${sessionId} for update`);
  const taken = await tx.one(sql.type(takenRow)`
    insert into audio_streams (session_id, epoch, settings)
    values (${sessionId}, 1, ${JSON.stringify(settings)}::jsonb)
    on conflict (session_id) do update
      set epoch = audio_streams.epoch + 1, settings = excluded.settings, touched_at = now()
    returning ${TAKEN}`);
  return { ...taken, settingsBefore: before?.settings };
}

async function takeAgain(tx: CommonQueryMethods, sessionId: string) {
  const taken = await tx.maybeOne(sql.type(takenRow)`
    update audio_streams set epoch = epoch + 1, touched_at = now()
    where session_id = ${sessionId}
    returning ${TAKEN}`);
  if (taken !== null) return taken;
  throw new AppError("conflict", "Nothing was streamed into this session yet: send Configure.");
}

/** The chunk that an earlier attempt of the same call began; throws when there was none. */
async function begunBefore(tx: CommonQueryMethods, { sessionId, epoch }: StreamHold) {
  const stream = await tx.maybeOne(sql.type(streamRow)`
    select epoch, sequence, pieces as fragments from audio_streams where session_id = ${sessionId}`);
  if (stream === null || stream.epoch !== epoch) throw superseded();
  if (stream.sequence === undefined || stream.fragments !== 1) throw assembledMeanwhile();
  return stream.sequence;
}

function assembledMeanwhile(): AppError {
  return new AppError("stale_epoch", "The stream was given up; please connect again.");
}

function superseded(): AppError {
  return new AppError("superseded", "A newer connection streams into this session.");
}

/** Throws an error that tells the device to stop sending. */
export function assertRecording(status: SessionPhase): void {
  if (status === "recording") return;
  if (status === "deleted") throw new AppError("session_deleted", "The session was deleted.");
  throw new AppError("session_ended", "The session has ended; it takes no more audio.");
}

/**
 * The highest sequence of chunks and streamed audio; -1 when there is none. Must be read under the
 * session row's lock.
 */
export function highestSequence(tx: CommonQueryMethods, sessionId: string): Promise<number> {
  return tx.oneFirst(sql.type(z.object({ highest: z.number() }))`
    select greatest(
      (select coalesce(max(sequence), -1) from chunks where session_id = ${sessionId}),
      (select coalesce(max(sequence), -1) from audio_pieces where session_id = ${sessionId})
    ) as highest`);
}

async function insertFirst(
  tx: CommonQueryMethods,
  sessionId: string,
  sequence: number,
  { format, frames, data, log }: PlannedFragment,
): Promise<void> {
  const bytes = log === undefined ? sql.binary(Buffer.from(data)) : null;
  await tx.query(sql.unsafe`
    insert into audio_pieces (
      session_id, sequence, piece, media_type, frames, sample_rate, data, log)
    values (${sessionId}, ${sequence}, 0, ${format.mediaType}, ${frames}, ${format.sampleRate},
      ${bytes}, ${log ?? null})`);
}

/**
 * Writes fragments, without the bytes that a log has, and returns the keys of those that were written: each at most once, in order, and
 * only of sessions whose row is not locked, because one locked session would delay all.
 */
async function insertFragments(
  pool: DatabasePool,
  additions: readonly Addition[],
): Promise<ReadonlySet<string>> {
  const rows = additions.map(({ hold, fragment }) => [
    hold.sessionId,
    hold.epoch,
    fragment.sequence,
    fragment.index,
    fragment.format.mediaType,
    fragment.frames,
    fragment.format.sampleRate,
    fragment.log === undefined ? Buffer.from(fragment.data) : null,
    fragment.data.byteLength,
    fragment.streamBytes,
  ]);
  const types = ["uuid", "int8", "int4", "int4", "text", "int4", "int4", "bytea", "int4", "int4"];
  const stored = await pool.any(sql.type(writtenRow)`
    /* planned once */ with given as (
      select distinct on (session_id, epoch, sequence, piece) *
      from ${sql.unnest(rows, types)} as g (
        session_id, epoch, sequence, piece, media_type, frames, sample_rate, data, bytes, stream_bytes)
    ), taking as (
      -- Stop and deletion flip this row: nothing slips in after them.
      select id from sessions
      where id in (select session_id from given) and status = 'recording'
      order by id for share skip locked
    ), free as (
      select session_id from audio_streams
      where session_id in (select id from taking)
      order by session_id for no key update skip locked
    ), moved as (
      update audio_streams a
      set pieces = g.piece + 1, offset_bytes = offset_bytes + g.stream_bytes,
          unsealed_bytes = unsealed_bytes + g.bytes, touched_at = now()
      from given g join free on free.session_id = g.session_id
      where a.session_id = g.session_id and a.epoch = g.epoch
        and a.sequence = g.sequence and a.pieces = g.piece
      returning a.session_id, a.epoch, a.sequence, g.piece
    ), written as (
      insert into audio_pieces (
        session_id, sequence, piece, media_type, frames, sample_rate, data)
      select g.session_id, g.sequence, g.piece, g.media_type, g.frames, g.sample_rate, g.data
      from given g join moved using (session_id, epoch, sequence, piece)
      where g.data is not null
    )
    select session_id as "sessionId", epoch, sequence, piece as index from moved`);
  return new Set(stored.map(fragmentKey));
}

/** Signs of life of devices whose audio streams are open. */
export class PostgresStreamSigns {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** Records that the audio streams of these sessions are open, even when no audio comes. */
  async streaming(sessionIds: readonly string[]): Promise<void> {
    await this.#pool.query(sql.unsafe`
      update audio_streams set touched_at = now()
      where session_id = any(${sql.array([...sessionIds], "uuid")})
        and touched_at < now() - interval '5 seconds'`);
  }
}
