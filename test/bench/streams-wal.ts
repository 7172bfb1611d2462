import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { FragmentLogs } from "../../src/conversations/recording/audio-files/fragment-logs.ts";
import { FolderBlobs } from "../../src/conversations/recording/audio-store/blobs.ts";
import { ChunkAssembler } from "../../src/conversations/recording/chunk-assembler.ts";
import { PostgresOpenChunks } from "../../src/conversations/recording/open-chunks-store.ts";
import type { StreamSettings } from "../../src/conversations/recording/stream-records.ts";
import { AudioStreams } from "../../src/conversations/recording/stream-routes.ts";
import { PostgresAudioStreams } from "../../src/conversations/recording/stream-store.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { NO_LOGS } from "../support/fragment-logs.ts";
import { NO_MENDING } from "../support/verified-audio.ts";
import { BenchFixture } from "./bench-fixture.ts";
import { interleave, medianRatio } from "./rounds.ts";
import type { BenchRow, BenchScale } from "./row.ts";
import { median, quantile } from "./statistics.ts";

const STREAMS = [10, 50, 200];
/** A tenth of a second of PCM, as a device sends it. */
const MESSAGE_BYTES = 3_200;
const MESSAGE_MS = 100;
/** Streams begin one after the other over the time of a chunk, as no two devices begin at once. */
const BEGIN_MS = 10_000;
/** Longer than two chunks, so that their files and rows are in the figures. */
const STREAM_MS = 24_000;
const WAL_MARK = 4;
const ACK_MARK = 1.5;
const SETTINGS: StreamSettings = {
  encoding: "pcm_s16le",
  sampleRate: 16_000,
  channels: 1,
  framing: "packet",
  interim: true,
};

/**
 * What streams in real time cost the write-ahead log, and how long their acknowledgements take: with logs
 * in the audio store, and with their bytes in the record, as they were before and are while the store is
 * away. Without actors and recognition.
 */
export async function measureStreamsWal(scale: BenchScale): Promise<BenchRow[]> {
  const fixture = await BenchFixture.open();
  const pool = await createPool(fixture.database.serviceUrl, { maximumPoolSize: 10 });
  const blobs = new FolderBlobs(fixture.blobFolder);
  await blobs.start();
  try {
    const rows: BenchRow[] = [];
    for (const count of STREAMS)
      rows.push(...(await measure({ fixture, pool, blobs }, count, scale)));
    return rows;
  } finally {
    await blobs.stop();
    await pool.end();
    await fixture.close();
  }
}

interface Parts {
  fixture: BenchFixture;
  pool: Awaited<ReturnType<typeof createPool>>;
  blobs: FolderBlobs;
}

async function measure(parts: Parts, count: number, scale: BenchScale): Promise<BenchRow[]> {
  const found = { ours: [] as Round[], peer: [] as Round[] };
  const round = async (name: "ours" | "peer") => {
    const result = await stream(parts, count, name === "ours");
    found[name].push(result);
    process.stderr.write(`${count} ${name} ${JSON.stringify(result)}\n`);
    return result.p95;
  };
  const p95 = await interleave(scale.rounds > 3 ? 2 : 1, {
    ours: () => round("ours"),
    peer: () => round("peer"),
  });
  // The first round of each does not count.
  const of = (all: Round[], key: keyof Round) => median(all.slice(1).map((each) => each[key]));
  const [ours, peer] = [found.ours, found.peer];
  const wal = of(ours, "walPerStream");
  const ratio = medianRatio(p95.peer, p95.ours);
  const acks = (all: Round[]) =>
    `p50 ${of(all, "p50").toFixed(1)}, p95 ${of(all, "p95").toFixed(1)}, p99 ${of(all, "p99").toFixed(1)} ms, ${of(all, "late").toFixed(1)} % late`;
  return [
    {
      figure: `write-ahead log of ${count} streams, each`,
      unit: "kB/s",
      ours: wal,
      peer: { name: "bytes in the record", value: of(peer, "walPerStream") },
      ratio: of(peer, "walPerStream") / wal,
      mark: `<= ${WAL_MARK} kB/s`,
      met: wal <= WAL_MARK,
      detail: `PCM of 16 kHz in messages of 100 ms for ${STREAM_MS / 1_000} s with the chunks that come of it; ${of(ours, "commits").toFixed(0)} commits/s, ${of(peer, "commits").toFixed(0)} with bytes in the record`,
    },
    {
      figure: `acknowledgements of ${count} streams, 95th percentile`,
      unit: "ms",
      ours: median(p95.ours),
      peer: { name: "bytes in the record", value: median(p95.peer) },
      ratio,
      mark: `no slower than ${ACK_MARK}x`,
      met: ratio >= 1 / ACK_MARK,
      detail: `${acks(ours)}; with bytes in the record ${acks(peer)}`,
    },
  ];
}

interface Round {
  /** kB/s. */
  walPerStream: number;
  /** Of all streams, per second. */
  commits: number;
  /** Milliseconds from a message to its acknowledgement. */
  p50: number;
  p95: number;
  p99: number;
  /** Share of messages that took more than a second, percent. */
  late: number;
}

async function stream({ fixture, pool, blobs }: Parts, count: number, isLogged: boolean) {
  const notifier = { notify: () => {} };
  const [runtime, log] = [systemRuntime, silentLog];
  const kept = new FragmentLogs({ store: blobs, runtime, log });
  const logs = isLogged ? kept : NO_LOGS;
  const assembler = new ChunkAssembler({
    ...{ openChunks: new PostgresOpenChunks(pool), blobs, logs, notifier, runtime, log },
    mending: NO_MENDING,
  });
  const streams = new AudioStreams({
    ...{ store: new PostgresAudioStreams(pool), logs, assembler, notifier, runtime, log },
    live: { publish: () => {} },
    backlog: { check: () => {} },
    notices: { taken: () => {}, onTaken: () => () => {} },
  });
  const sessions = await addSessions(fixture, count);
  const before = await walOf(fixture);
  const took = (await Promise.all(sessions.map((id, n) => sendAll(streams, id, n / count)))).flat();
  const after = await walOf(fixture);
  await streams.stop();
  await kept.stop();
  const seconds = (after.at - before.at) / 1_000;
  const streamed = (count * STREAM_MS) / 1_000;
  return {
    walPerStream: (after.bytes - before.bytes) / 1_000 / streamed,
    commits: (after.commits - before.commits) / seconds,
    p50: quantile(took, 0.5),
    p95: quantile(took, 0.95),
    p99: quantile(took, 0.99),
    late: (took.filter((ms) => ms > 1_000).length / took.length) * 100,
  };
}

/** Milliseconds until each message was acknowledged. `phase`: of the time over which streams begin, 0 to 1. */
async function sendAll(streams: AudioStreams, sessionId: string, phase: number): Promise<number[]> {
  const sent: { end: number; at: number }[] = [];
  const took: number[] = [];
  await systemRuntime.delay(phase * BEGIN_MS);
  const opened = await streams.open({
    sessionId,
    settings: SETTINGS,
    events: {
      onStored(offset) {
        while ((sent[0]?.end ?? Number.POSITIVE_INFINITY) <= offset) {
          took.push(performance.now() - (sent.shift()?.at ?? 0));
        }
      },
      onEnd(error) {
        if (error !== undefined) throw error;
      },
    },
  });
  const begun = performance.now();
  const message = Buffer.alloc(MESSAGE_BYTES);
  for (let n = 0; n < STREAM_MS / MESSAGE_MS; n += 1) {
    await systemRuntime.delay(Math.max(0, begun + n * MESSAGE_MS - performance.now()));
    // Noise, which does not compress.
    for (let at = 0; at < MESSAGE_BYTES; at += 4)
      message.writeUInt32LE((Math.random() * 2 ** 32) >>> 0, at);
    sent.push({ end: (n + 1) * MESSAGE_BYTES, at: performance.now() });
    opened.stream.push(Buffer.from(message));
  }
  await opened.stream.close();
  return took;
}

async function walOf({ owner }: BenchFixture) {
  const { rows } = await owner.query<{ bytes: string; commits: string }>(`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes,
      (select xact_commit from pg_stat_database where datname = current_database()) as commits`);
  return {
    bytes: Number(rows[0]?.bytes),
    commits: Number(rows[0]?.commits),
    at: performance.now(),
  };
}

async function addSessions(fixture: BenchFixture, count: number): Promise<string[]> {
  const user = await fixture.addUser();
  const ids = Array.from({ length: count }, () => newId());
  await fixture.owner.query(
    `insert into sessions (id, workspace_id, owner_id, job_id, title, status)
     select id, $2, $3, gen_random_uuid(), 'Weekly planning', 'recording' from unnest($1::uuid[]) as id`,
    [ids, user.workspaceId, user.id],
  );
  return ids;
}
