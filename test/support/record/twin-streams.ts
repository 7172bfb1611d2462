import { AppError } from "../../../src/base/errors.ts";
import type {
  AudioFragment,
  AudioStreamStore,
  PlannedFragment,
  StreamHold,
  StreamSettings,
  TakenStream,
} from "../../../src/conversations/recording/stream-records.ts";
import { assertRecording } from "../../../src/conversations/recording/stream-store.ts";
import { GroupCommit } from "../../../src/postgres/group-commit.ts";
import type { OutboxRow } from "../../../src/postgres/outbox.ts";
import { HELD, whenFree } from "../../../src/postgres/when-free.ts";
import { MAX_SEQUENCE } from "../../../src/session/limits.ts";
import type { Conversation } from "./record-client.ts";
import type { RecordTables } from "./record-tables.ts";
import type { PieceRow, SessionRow, StreamRow } from "./rows.ts";
import type { Statement } from "./statement.ts";
import { highestSequence, outboxRow, writeOutbox } from "./twin-chunks.ts";
import type { TwinParts } from "./twin-journal.ts";
import { saveCount } from "./twin-open-chunks.ts";

/** A day. */
const BUFFERED_SECONDS = 24 * 3_600;
const MAX_GROUP = 256;

interface Addition {
  hold: StreamHold;
  fragment: AudioFragment;
}

/** Nothing when it is stored. */
type Appended = undefined | typeof HELD;

/** Of one connection's fragment. */
function fragmentKey({ hold, fragment }: Addition): string {
  return `${hold.sessionId} ${hold.epoch} ${fragment.sequence} ${fragment.index}`;
}

/** Streams and their fragments, over tables in memory: fragments of one moment share one statement. */
export class TwinStreams implements AudioStreamStore {
  readonly #parts: TwinParts;
  readonly #group: GroupCommit<Addition, Appended>;

  constructor(parts: TwinParts) {
    this.#parts = parts;
    this.#group = new GroupCommit((additions) => this.#appendAll(additions), MAX_GROUP);
  }

  take(
    sessionId: string,
    settings?: StreamSettings,
    accept: (taken: TakenStream) => void = () => {},
  ): Promise<TakenStream> {
    const { client, t } = this.#parts;
    return client.transaction(async (tx) => {
      const { status, seq } = await lockSession(tx, t, sessionId, "share");
      const before = await tx.run((s) => s.lock(t.streams, sessionId, "update"));
      const row = await tx.run((s) => takeOver(s, t, sessionId, settings));
      const taken: TakenStream = {
        mostSeconds: await tx.run((s) => roomOf(s, t, sessionId)),
        sessionId,
        status,
        seq,
        epoch: row.epoch,
        offset: row.offset_bytes,
        sequence: row.sequence ?? undefined,
        nextSequence: (await tx.run((s) => highestSequence(s, t, sessionId))) + 1,
        settings: parseSettings(row),
        ...(settings === undefined
          ? {}
          : { settingsBefore: before === undefined ? undefined : parseSettings(before) }),
      };
      accept(taken);
      return taken;
    });
  }

  begin(
    hold: StreamHold,
    after: number | undefined,
    fragment: PlannedFragment,
  ): Promise<{ sequence: number; outbox: OutboxRow[] }> {
    const { client, t, newId } = this.#parts;
    const { sessionId } = hold;
    return client.transaction(async (tx) => {
      await lockSession(tx, t, sessionId, "update");
      const sequence = (await tx.run((s) => highestSequence(s, t, sessionId))) + 1;
      if (sequence > MAX_SEQUENCE) {
        throw new AppError("session_ended", "The session holds as many chunks as it can take.");
      }
      await tx.run(async (s) => {
        const stream = s.get(t.streams, sessionId);
        const isNewest = stream?.epoch === hold.epoch && stream.sequence === (after ?? null);
        if (isNewest) await saveCount(s, t, sessionId);
      });
      const moved = await tx.run((s) =>
        s.update(
          t.streams,
          sessionId,
          ({ offset_bytes }) => ({
            sequence,
            pieces: 1,
            touched_at: s.now,
            offset_bytes: offset_bytes + fragment.streamBytes,
          }),
          (row) => row.epoch === hold.epoch && row.sequence === (after ?? null),
        ),
      );
      if (moved === undefined) return { sequence: await begunBefore(tx, t, hold), outbox: [] };
      await tx.run((s) =>
        s.insertNew(t.pieces, toRow(s, sessionId, { ...fragment, sequence, index: 0 })),
      );
      const row = outboxRow(newId(), sessionId, { type: "AudioOpened", sequence });
      await tx.run((s) => writeOutbox(s, t, row));
      return { sequence, outbox: [row] };
    });
  }

  async append(hold: StreamHold, fragment: AudioFragment): Promise<void> {
    const addition = { hold, fragment: { ...fragment, data: Buffer.from(fragment.data) } };
    await whenFree(this.#parts.runtime, () => this.#group.add(addition));
  }

  async #appendAll(additions: readonly Addition[]): Promise<PromiseSettledResult<Appended>[]> {
    const { client, t } = this.#parts;
    const stored = await client.query((s) => insertFragments(s, t, additions));
    const left = additions.filter((addition) => !stored.has(fragmentKey(addition)));
    const explained = left.length === 0 ? new Map() : await this.#explain(left);
    return Promise.allSettled(
      additions.map(async (addition): Promise<Appended> => explained.get(addition)?.()),
    );
  }

  /** Why fragments were not taken; nothing for what was there already. */
  #explain(additions: readonly Addition[]): Promise<Map<Addition, () => Appended>> {
    const { client, t } = this.#parts;
    return client.query((s) => {
      const entries = additions.map((addition) => {
        const { sessionId } = addition.hold;
        const [session, stream] = [s.get(t.sessions, sessionId), s.get(t.streams, sessionId)];
        return [addition, () => explain(addition, session, stream)] as const;
      });
      return new Map(entries);
    });
  }
}

function explain(
  { hold, fragment }: Addition,
  session: SessionRow | undefined,
  stream: StreamRow | undefined,
): Appended {
  if (session === undefined || stream === undefined) throw noSession();
  if (stream.epoch !== hold.epoch) throw superseded();
  if (stream.sequence === fragment.sequence && stream.pieces === fragment.index + 1)
    return undefined;
  assertRecording(session.status);
  if (stream.sequence === fragment.sequence && stream.pieces === fragment.index) return HELD;
  throw assembledMeanwhile();
}

async function lockSession(
  tx: Conversation,
  t: RecordTables,
  id: string,
  mode: "share" | "update",
): Promise<SessionRow> {
  const session = await tx.run((s) => s.lock(t.sessions, id, mode));
  if (session === undefined) throw noSession();
  assertRecording(session.status);
  return session;
}

async function takeOver(
  s: Statement,
  t: RecordTables,
  sessionId: string,
  settings: StreamSettings | undefined,
): Promise<StreamRow> {
  const given = settings && JSON.stringify(settings);
  if (given !== undefined) {
    const row: StreamRow = {
      session_id: sessionId,
      epoch: 1,
      settings: given,
      offset_bytes: 0,
      sequence: null,
      pieces: 0,
      touched_at: s.now,
    };
    if (await s.insert(t.streams, row)) return row;
  }
  const taken = await s.update(t.streams, sessionId, (row) => ({
    epoch: row.epoch + 1,
    settings: given ?? row.settings,
    touched_at: s.now,
  }));
  if (taken !== undefined) return taken;
  throw new AppError("conflict", "Nothing was streamed into this session yet: send Configure.");
}

/** The chunk that an earlier try of the same call began; throws when there was none. */
async function begunBefore(
  tx: Conversation,
  t: RecordTables,
  { sessionId, epoch }: StreamHold,
): Promise<number> {
  const stream = await tx.run((s) => s.get(t.streams, sessionId));
  if (stream?.epoch !== epoch) throw superseded();
  if (stream.sequence === null || stream.pieces !== 1) throw assembledMeanwhile();
  return stream.sequence;
}

/** The fragments that were written: each at most once, only in order, and of sessions nobody holds. */
async function insertFragments(
  s: Statement,
  t: RecordTables,
  additions: readonly Addition[],
): Promise<ReadonlySet<string>> {
  const isRecording = ({ status }: SessionRow) => status === "recording";
  const wanted = [...new Set(additions.map(({ hold }) => hold.sessionId))].sort();
  const taking = wanted.filter((id) => s.lockNow(t.sessions, id, "share", isRecording));
  const free = new Set(taking.filter((id) => s.lockNow(t.streams, id, "no key update")));
  const moved = new Set<string>();
  const stored = new Set<string>();
  for (const addition of additions) {
    const { hold, fragment } = addition;
    const { sessionId, epoch } = hold;
    // A row is changed once in a statement.
    if (!free.has(sessionId) || moved.has(sessionId)) continue;
    const change = await s.update(
      t.streams,
      sessionId,
      ({ offset_bytes }) => ({
        pieces: fragment.index + 1,
        offset_bytes: offset_bytes + fragment.streamBytes,
        touched_at: s.now,
      }),
      (row) =>
        row.epoch === epoch && row.sequence === fragment.sequence && row.pieces === fragment.index,
    );
    if (change === undefined) continue;
    if (fragment.log === undefined) await s.insertNew(t.pieces, toRow(s, sessionId, fragment));
    moved.add(sessionId);
    stored.add(fragmentKey(addition));
  }
  return stored;
}

function toRow(s: Statement, sessionId: string, fragment: AudioFragment): PieceRow {
  return {
    session_id: sessionId,
    sequence: fragment.sequence,
    piece: fragment.index,
    media_type: fragment.format.mediaType,
    frames: fragment.frames,
    sample_rate: fragment.format.sampleRate,
    data: fragment.log === undefined ? Buffer.from(fragment.data) : null,
    created_at: s.now,
    log: fragment.log ?? null,
    pieces: null,
  };
}

function parseSettings({ settings }: StreamRow): StreamSettings {
  return JSON.parse(settings) as StreamSettings;
}

function noSession(): AppError {
  return new AppError("not_found", "There is no session with this id.");
}

function assembledMeanwhile(): AppError {
  return new AppError("stale_epoch", "The stream was given up; please connect again.");
}

function superseded(): AppError {
  return new AppError("superseded", "A newer connection streams into this session.");
}

/** Seconds of sound that the session may take on: a day's, besides what has passed since it began. */
function roomOf(s: Statement, t: RecordTables, sessionId: string): number {
  const stored = s.all(t.chunks, sessionId).reduce((sum, row) => sum + row.duration_seconds, 0);
  const startedAt = s.get(t.sessions, sessionId)?.started_at ?? s.now;
  return (s.now - startedAt) / 1_000 + BUFFERED_SECONDS - stored;
}
