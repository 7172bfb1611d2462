import { OPUS_PRE_ROLL } from "../../../src/base/audio/opus-packets.ts";
import { toSessionSamples } from "../../../src/base/audio/sample-rate.ts";
import { readFragments } from "../../../src/conversations/recording/audio-files/stored-fragments.ts";
import type { LiveFragment } from "../../../src/conversations/recording/chunk-assembler.ts";
import type {
  AudioSource,
  Opening,
  OpeningPosition,
  PlacedChunk,
  StoredCheckpoint,
} from "../../../src/recognition/audio-source.ts";
import type { Voices } from "../../../src/session/write.ts";
import type { RecordTables } from "./record-tables.ts";
import type { HostHooks } from "./sim-record.ts";
import type { Statement } from "./statement.ts";
import type { TwinParts } from "./twin-journal.ts";
import { recordedFragments } from "./twin-open-chunks.ts";

/** What a reading needs, over tables in memory. */
export class TwinAudio implements AudioSource {
  readonly #parts: TwinParts;
  readonly #hooks: HostHooks;

  constructor(parts: TwinParts, hooks: HostHooks) {
    this.#parts = parts;
    this.#hooks = hooks;
  }

  bytes(sessionId: string, sha256: string): Promise<Buffer> {
    return this.#hooks.readBytes(sessionId, sha256);
  }

  async noteDamage(): Promise<void> {}

  opening(place: OpeningPosition): Promise<Opening> {
    const { client, t } = this.#parts;
    const { sessionId, attempt } = place;
    return client.query((s) => {
      const session = s.get(t.sessions, sessionId);
      const job = session && s.get(t.jobs, session.job_id);
      const words = JSON.parse(session?.vocabulary ?? "[]") as string[];
      const checkpoint = checkpointBefore(s, t, place);
      const from = checkpoint?.position ?? 0;
      return {
        checkpoint,
        sequence: from === 0 ? 0 : sequenceAt(s, t, sessionId, from),
        vocabulary: [...new Set(words)],
        // No session of the twin names an engine, and no workspace has one of its own.
        engineRequest: session && {
          language: job?.forced_language || session.language,
          current: from > 0 ? (job?.engine ?? undefined) : undefined,
          asked: undefined,
          preferred: undefined,
          mayLeave: false,
        },
        interim: isInterimWanted(s, t, sessionId),
        suspects: s
          .all(t.suspects, sessionId)
          .filter((row) => row.attempt === attempt)
          .sort((a, b) => a.sequence - b.sequence)
          .map(({ sequence, breaks, position }) => ({ sequence, breaks, position })),
      };
    });
  }

  placed(sessionId: string, fromSequence: number, limit: number): Promise<PlacedChunk[]> {
    const { client, t } = this.#parts;
    return client.query((s) =>
      s
        .all(t.chunks, sessionId)
        .filter((row) => row.sequence >= fromSequence)
        .sort((a, b) => a.sequence - b.sequence)
        .flatMap((row) => {
          const { sequence, start_sample: start, media_type: mediaType, sha256 } = row;
          if (start === null) return [];
          const length = row.length_samples ?? 0;
          const samples = toSessionSamples(row.frames, row.sample_rate);
          return [{ sequence, start, length, samples, mediaType, sha256 }];
        })
        .slice(0, limit),
    );
  }

  async fragments(
    sessionId: string,
    sequence: number,
    fragment: number,
    limit: number,
  ): Promise<LiveFragment[]> {
    const { client, t } = this.#parts;
    const { recorded, interim } = await client.query((s) => ({
      recorded: recordedFragments(s, t, { sessionId, sequence }),
      interim: isInterimWanted(s, t, sessionId),
    }));
    if (recorded === undefined) return [];
    const { format } = recorded;
    let [startFrame, startByte] = [0, 0];
    const stored = await readFragments(this.#hooks, sessionId, recorded);
    const placed = stored.map((each): LiveFragment => {
      const place = { startFrame, startByte };
      startFrame += each.frames;
      startByte += each.data.length;
      return { kind: "fragment", sequence, ...each, ...place, interim, format };
    });
    return placed.slice(fragment, fragment + limit);
  }
}

function sequenceAt(s: Statement, t: RecordTables, sessionId: string, position: number): number {
  const placed = s
    .all(t.chunks, sessionId)
    .flatMap(({ sequence, start_sample: start }) => (start === null ? [] : [{ sequence, start }]))
    .sort((a, b) => a.start - b.start || a.sequence - b.sequence);
  const at = placed.findLast(({ start }) => start <= position)?.start ?? 0;
  return placed.findLast(({ start }) => start <= at - OPUS_PRE_ROLL)?.sequence ?? 0;
}

function checkpointBefore(
  s: Statement,
  t: RecordTables,
  { sessionId, checkpointAttempt, position }: OpeningPosition,
): StoredCheckpoint | undefined {
  const [newest] = s
    .all(t.checkpoints, sessionId)
    .filter((row) => row.attempt === checkpointAttempt && row.position <= position)
    .sort((a, b) => b.position - a.position);
  if (newest === undefined) return undefined;
  const { recogniser, speakers } = newest;
  const voices = newest.voices === null ? undefined : (JSON.parse(newest.voices) as Voices);
  return { position: newest.position, recogniser, speakers, voices };
}

/** True until a stream says otherwise. */
function isInterimWanted(s: Statement, t: RecordTables, sessionId: string): boolean {
  const settings = s.get(t.streams, sessionId)?.settings;
  return settings === undefined
    ? true
    : ((JSON.parse(settings) as { interim?: boolean }).interim ?? true);
}
