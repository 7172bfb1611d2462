import type {
  AudioPiece,
  AudioStreamStore,
  PlannedPiece,
  StreamHold,
  StreamSettings,
  TakenStream,
} from "../../../src/api/audio-stream-store.ts";
import type { OutboxRow } from "../../../src/api/sessions-outbox.ts";
import { AppError } from "../../../src/base/errors.ts";
import { MAX_SEQUENCE } from "../../../src/session/limits.ts";
import { assertRecording } from "../../../src/store/audio-streams.ts";
import { GroupCommit } from "../../../src/store/group-commit.ts";
import type { Conversation } from "./record-client.ts";
import type { RecordTables } from "./record-tables.ts";
import type { PieceRow, SessionRow, StreamRow } from "./rows.ts";
import type { Statement } from "./statement.ts";
import { highestSequence, outboxRow, writeOutbox } from "./twin-chunks.ts";
import type { TwinParts } from "./twin-journal.ts";

const MAX_GROUP = 256;

interface Addition {
  hold: StreamHold;
  piece: AudioPiece;
}

/** Streams and their pieces, over tables in memory: pieces of one moment share one statement. */
export class TwinStreams implements AudioStreamStore {
  readonly #parts: TwinParts;
  readonly #group: GroupCommit<Addition>;

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
        sessionId,
        status,
        seq,
        epoch: row.epoch,
        offset: row.offset_bytes,
        sequence: row.sequence ?? undefined,
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
    piece: PlannedPiece,
  ): Promise<{ sequence: number; outbox: OutboxRow[] }> {
    const { client, t, newId } = this.#parts;
    const { sessionId } = hold;
    return client.transaction(async (tx) => {
      await lockSession(tx, t, sessionId, "update");
      const sequence = (await tx.run((s) => highestSequence(s, t, sessionId))) + 1;
      if (sequence > MAX_SEQUENCE) {
        throw new AppError("session_ended", "The session holds as many chunks as it can take.");
      }
      const moved = await tx.run((s) =>
        s.update(
          t.streams,
          sessionId,
          ({ offset_bytes }) => ({
            sequence,
            pieces: 1,
            touched_at: s.now,
            offset_bytes: offset_bytes + piece.streamBytes,
          }),
          (row) => row.epoch === hold.epoch && row.sequence === (after ?? null),
        ),
      );
      if (moved === undefined) return { sequence: await begunBefore(tx, t, hold), outbox: [] };
      await tx.run((s) =>
        s.insertNew(t.pieces, toRow(s, sessionId, { ...piece, sequence, piece: 0 })),
      );
      const row = outboxRow(newId(), sessionId, { type: "AudioOpened", sequence });
      await tx.run((s) => writeOutbox(s, t, row));
      return { sequence, outbox: [row] };
    });
  }

  append(hold: StreamHold, piece: AudioPiece): Promise<void> {
    return this.#group.add({ hold, piece: { ...piece, data: Buffer.from(piece.data) } });
  }

  async #appendAll(additions: readonly Addition[]): Promise<PromiseSettledResult<void>[]> {
    const { client, t } = this.#parts;
    const stored = await client.query((s) => insertPieces(s, t, additions));
    return Promise.allSettled(
      additions.map(async ({ hold, piece }) => {
        if (!stored.has(hold.sessionId)) await this.#explain(hold, piece);
      }),
    );
  }

  /** Why a piece was not taken; returns when it was there already. */
  async #explain({ sessionId, epoch }: StreamHold, piece: AudioPiece): Promise<void> {
    const { client, t } = this.#parts;
    const [session, stream] = await client.query(
      (s) => [s.get(t.sessions, sessionId), s.get(t.streams, sessionId)] as const,
    );
    if (session === undefined || stream === undefined) throw noSession();
    if (stream.epoch !== epoch) throw superseded();
    if (stream.sequence === piece.sequence && stream.pieces === piece.piece + 1) return;
    assertRecording(session.status);
    throw sealedMeanwhile();
  }
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
  if (stream.sequence === null || stream.pieces !== 1) throw sealedMeanwhile();
  return stream.sequence;
}

/** Sessions whose piece was written: each at most once, and only in order. */
async function insertPieces(
  s: Statement,
  t: RecordTables,
  additions: readonly Addition[],
): Promise<ReadonlySet<string>> {
  const isRecording = ({ status }: SessionRow) => status === "recording";
  const wanted = [...new Set(additions.map(({ hold }) => hold.sessionId))].sort();
  const taking = new Set<string>();
  for (const id of wanted) {
    if (await s.lock(t.sessions, id, "share", isRecording)) taking.add(id);
  }
  const stored = new Set<string>();
  for (const { hold, piece } of additions) {
    const { sessionId, epoch } = hold;
    if (!taking.has(sessionId) || stored.has(sessionId)) continue;
    const moved = await s.update(
      t.streams,
      sessionId,
      ({ offset_bytes }) => ({
        pieces: piece.piece + 1,
        offset_bytes: offset_bytes + piece.streamBytes,
        touched_at: s.now,
      }),
      (row) => row.epoch === epoch && row.sequence === piece.sequence && row.pieces === piece.piece,
    );
    if (moved === undefined) continue;
    await s.insertNew(t.pieces, toRow(s, sessionId, piece));
    stored.add(sessionId);
  }
  return stored;
}

function toRow(s: Statement, sessionId: string, piece: AudioPiece): PieceRow {
  return {
    session_id: sessionId,
    sequence: piece.sequence,
    piece: piece.piece,
    media_type: piece.format.mediaType,
    frames: piece.frames,
    sample_rate: piece.format.sampleRate,
    data: Buffer.from(piece.data),
    created_at: s.now,
  };
}

function parseSettings({ settings }: StreamRow): StreamSettings {
  return JSON.parse(settings) as StreamSettings;
}

function noSession(): AppError {
  return new AppError("not_found", "There is no session with this id.");
}

function sealedMeanwhile(): AppError {
  return new AppError("stale_epoch", "The stream was given up; please connect again.");
}

function superseded(): AppError {
  return new AppError("superseded", "A newer connection streams into this session.");
}
