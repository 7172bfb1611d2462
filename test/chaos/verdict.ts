import { connect, type JetStreamManager } from "nats";
import type { QueryResultRow } from "pg";
import { withClient } from "../../deploy/supervisor/postgres/roles.ts";
import type { UserSession } from "../../src/cli/user-session.ts";
import { COMMAND_STREAM } from "../../src/wire/subjects.ts";
import { until } from "../support/until.ts";
import type { Follower, Recording } from "./recording.ts";

const SETTLE_MS = 240_000;
const QUEUES_MS = 60_000;

/** What must be the same however often the line went dead. */
export interface Outcome {
  /** Label, times and words of each segment. */
  segments: string[];
  /** Sequence, status and words of each chunk. */
  chunks: string[];
}

export async function readOutcome(user: UserSession, sessionId: string): Promise<Outcome> {
  const path = { session_id: sessionId };
  const segments = await user.call((client) =>
    client.GET("/sessions/{session_id}/segments", { params: { path, query: { limit: 100 } } }),
  );
  const { chunks } = await user.call((client) =>
    client.GET("/sessions/{session_id}/chunks", { params: { path } }),
  );
  return {
    segments: segments.items.map(
      ({ speaker_label, start_ms, end_ms, text }) =>
        `${speaker_label} ${start_ms}-${end_ms}: ${text}`,
    ),
    chunks: chunks.map(
      ({ chunk_sequence, transcription_status, transcription_text }) =>
        `${chunk_sequence} ${transcription_status}: ${transcription_text}`,
    ),
  };
}

export async function completed(user: UserSession, sessionId: string): Promise<void> {
  const params = { path: { session_id: sessionId } };
  await until(
    async () => {
      const session = await user.call((client) => client.GET("/sessions/{session_id}", { params }));
      return session.status === "completed";
    },
    `session ${sessionId} to complete`,
    SETTLE_MS,
  );
}

/** Chunk borders and ways of sending change nothing: all lanes say the same. */
export function disagreements(outcomes: readonly Outcome[]): string[] {
  const [first, ...others] = outcomes;
  if (first === undefined) return [];
  return others.flatMap((other, n) =>
    differences(`undisturbed, lane ${n + 1}: segments`, other.segments, first.segments),
  );
}

/** Where everything is on record. */
export interface Examined {
  readonly databaseUrl: string;
  /** One or more addresses, comma-separated. */
  readonly nats: { readonly url: string; readonly token: string };
}

/** Looks past the proxies at what there is. */
export class Examiner {
  readonly #stage: Examined;
  readonly #user: UserSession;

  constructor(stage: Examined, user: UserSession) {
    this.#stage = stage;
    this.#user = user;
  }

  /** Every way in which the recording differs from an undisturbed one of its lane. */
  async examine(recording: Recording, calm: Outcome): Promise<string[]> {
    const { sessionId, followers, lane, streams } = recording;
    await completed(this.#user, sessionId);
    const found = await readOutcome(this.#user, sessionId);
    const problems = [
      ...differences("segments", found.segments, calm.segments),
      ...(streams
        ? differences("chunks", [joined(found.chunks)], [joined(calm.chunks)])
        : differences("chunks", found.chunks, calm.chunks)),
    ];
    const stored = await this.#storedSeqs(sessionId);
    const newest = stored.at(-1) ?? 0;
    for (const follower of followers) {
      await until(
        () => follower.seen >= newest || follower.gaveUp !== undefined,
        "a viewer",
        90_000,
      ).catch(() => undefined);
      await follower.stop();
      problems.push(...judgeFollower(follower, stored, found));
    }
    return problems.map((problem) => `session ${sessionId} (lane ${lane}): ${problem}`);
  }

  /** The session's events, without words, for those who look for the cause. */
  async history(sessionId: string): Promise<string[]> {
    const rows = await this.#ask<{ line: string }>(
      `select seq || ' ' || epoch || ' ' || at || ' ' || payload as line
       from events where session_id = $1 order by seq`,
      [sessionId],
    );
    return rows.map(({ line }) => line);
  }

  /** What is still waiting somewhere, after time to drain. */
  async queues(): Promise<string[]> {
    let left: string[] = [];
    const areEmpty = async (): Promise<boolean> => {
      left = await this.#waiting();
      return left.length === 0;
    };
    await until(areEmpty, "the queues", QUEUES_MS).catch(() => undefined);
    return left;
  }

  async #waiting(): Promise<string[]> {
    const [counts] = await this.#ask<Record<string, number>>(
      `select (select count(*)::int from outbox) as outbox,
              (select count(*)::int from jobs where status in ('queued', 'running')) as jobs,
              (select count(*)::int from chunks where status in ('pending', 'processing')) as chunks`,
    );
    const { url, token } = this.#stage.nats;
    const bus = await connect({ servers: url.split(","), token });
    try {
      const manager = await bus.jetstreamManager();
      const left = Object.entries(counts ?? {})
        .filter(([, count]) => count !== 0)
        .map(([name, count]) => `${count} left in ${name}`);
      return [...left, ...(await unread(manager))];
    } finally {
      await bus.close();
    }
  }

  async #storedSeqs(sessionId: string): Promise<number[]> {
    const rows = await this.#ask<{ seq: number }>(
      "select seq::int as seq from events where session_id = $1 order by seq",
      [sessionId],
    );
    return rows.map(({ seq }) => seq);
  }

  /** PostgreSQL may have been killed just now. */
  async #ask<T extends QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
    let rows: T[] | undefined;
    const ask = async (): Promise<boolean> => {
      const result = await withClient(this.#stage.databaseUrl, (client) =>
        client.query<T>(text, values),
      ).catch(() => undefined);
      rows = result?.rows;
      return rows !== undefined;
    };
    await until(ask, "the database", QUEUES_MS);
    return rows ?? [];
  }
}

/**
 * Commands in the stream that somebody has yet to carry out. A nats-server that was killed may bring
 * back what was acknowledged: the consumer of its partition is past it, and nobody gets it again.
 */
async function unread(manager: JetStreamManager): Promise<string[]> {
  const { state } = await manager.streams.info(COMMAND_STREAM);
  if (state.messages === 0) return [];
  const acknowledged = new Map<string, number>();
  for await (const { config, ack_floor } of manager.consumers.list(COMMAND_STREAM)) {
    acknowledged.set(config.filter_subject ?? "", ack_floor.stream_seq);
  }
  const left: string[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
    const message = await manager.streams
      .getMessage(COMMAND_STREAM, { seq })
      .catch(() => undefined);
    if (message === undefined) continue;
    const floor = acknowledged.get(message.subject);
    if (floor !== undefined && floor >= seq) continue;
    left.push(`message ${seq} on ${message.subject} is left; acknowledged up to ${floor}`);
  }
  return left;
}

/** The words of all chunks, and what states these are in. */
function joined(chunks: readonly string[]): string {
  const states = new Set(chunks.map((line) => line.replace(/^\d+ (\w+):.*$/s, "$1")));
  const words = chunks.flatMap((line) => line.replace(/^\d+ \w+: ?/, "").split(" "));
  return `${[...states].join(", ")}: ${words.filter((word) => word !== "").join(" ")}`;
}

function judgeFollower(follower: Follower, stored: readonly number[], found: Outcome): string[] {
  const { fromStart, seqs, snapshotSeq, gaveUp, transcript, isStale } = follower;
  const who = `viewer ${fromStart ? "from the start" : `from ${snapshotSeq}`}`;
  if (gaveUp !== undefined) return [`${who} gave up at ${follower.seen}: ${gaveUp}`];
  const expected = fromStart ? stored : stored.filter((seq) => seq > snapshotSeq);
  const problems = differences(`${who}: events`, seqs.map(String), expected.map(String));
  if (isStale) return problems;
  const heard = transcript.finals.map(({ speaker, text }) => `${speaker}: ${text}`);
  const said = found.segments.map((line) => line.replace(/ \d+-\d+:/, ":"));
  return [...problems, ...differences(`${who}: words`, heard, said)];
}

function differences(what: string, found: readonly string[], wanted: readonly string[]): string[] {
  if (found.length === wanted.length && found.every((each, n) => each === wanted[n])) return [];
  const at = wanted.findIndex((each, n) => each !== found[n]);
  const place = at < 0 ? wanted.length : at;
  return [
    `${what}: ${found.length} for ${wanted.length}, at ${place} ` +
      `"${found[place] ?? "nothing"}" for "${wanted[place] ?? "nothing"}"`,
  ];
}
