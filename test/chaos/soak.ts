import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { chooseWorkspace } from "../../src/cli/client/flags.ts";
import type { UserSession } from "../../src/cli/client/user-session.ts";
import { VirtualDevice } from "../../src/cli/device/virtual-device.ts";
import { reasonOf } from "../../src/client/errors.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { environmentOf } from "../support/service-cluster.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";
import { signIn } from "./crew.ts";
import { Floor, SoakDevice, type SoakFixture } from "./soak-device.ts";
import type { Sample } from "./soak-figures.ts";
import { Latencies, SoakSampler } from "./soak-sampler.ts";

export interface SoakOptions {
  readonly minutes: number;
  readonly sessions: number;
  /** Most that speak at once. */
  readonly speaking: number;
  /** Most that send silence at once; the others rest. */
  readonly silent: number;
  /** Seconds between two samples. */
  readonly every: number;
  readonly seed: number;
  readonly say: (line: string) => void;
}

export interface SoakResult {
  readonly samples: readonly Sample[];
  readonly counts: Readonly<Record<string, number>>;
  /** What is not as it should be, besides figures that grow. */
  readonly problems: string[];
}

const WAVE_HEADER = 44;
const CONVERSATION = resolve(import.meta.dirname, "../../deploy/demo/conversation.wav");
const PAIRED_TOGETHER = 4;
/** Of ten devices one streams three; two have somebody who watches all the time. */
const STREAMING_SHARE = 0.3;
const WATCHED_SHARE = 0.2;
const ASK_EVERY_MS = 500;
const REDO_EVERY_MS = 60_000;
const DELETE_EVERY_MS = 45_000;
const SETTLE_MS = 300_000;

/** Runs the whole service under many sessions that mostly rest, and looks at it again and again. */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const service = await WholeService.start({
    RATE_LIMIT_FACTOR: "1000",
    WORKER_SESSIONS_PER_THREAD: String(placesPerThread(options)),
  });
  const env = environmentOf(service.ready.pids.main ?? 0);
  const database = new Client({ connectionString: env.DATABASE_URL });
  try {
    await database.connect();
    return await soak(service, database, options);
  } finally {
    await database.end().catch(() => undefined);
    await service.stop();
  }
}

/** For all that send at once, and twice as many that have just ended: they keep theirs for a while. */
function placesPerThread({ speaking, silent }: SoakOptions): number {
  return Math.min(64, Math.ceil((3 * (speaking + silent)) / availableParallelism()));
}

async function soak(
  service: WholeService,
  database: Client,
  options: SoakOptions,
): Promise<SoakResult> {
  const { say, minutes, every } = options;
  const user = await signIn(service.api, service.ready.admin);
  const counts: Record<string, number> = {};
  const problems: string[] = [];
  const fixture = makeFixture(user, options, counts);
  const devices = await pairAll(user, fixture, options);
  say(`${devices.length} devices are paired`);
  const over = new AbortController();
  const tell = (error: unknown): void => {
    problems.push(reasonOf(error));
    say(reasonOf(error));
  };
  const work = [
    ...devices.map(async (device, n) => {
      // Not all at once: they begin within the first sample's time.
      await delay((n / devices.length) * every * 1_000);
      await device.run(over.signal).catch(tell);
    }),
    askNowAndThen(fixture, over.signal).catch(tell),
    redoNowAndThen(fixture, counts, over.signal).catch(tell),
    deleteNowAndThen(fixture, counts, over.signal).catch(tell),
  ];
  const samples = await sample(new SoakSampler(service, database), fixture, options);
  over.abort();
  say(`${minutes} minutes are over`);
  await Promise.all(work);
  say("every session is stopped");
  problems.push(...(await settled(database)));
  return { samples, counts, problems };
}

function makeFixture(
  user: UserSession,
  { sessions, speaking, silent, seed, minutes }: SoakOptions,
  counts: Record<string, number>,
): SoakFixture {
  const whole = minutes * 60_000;
  return {
    user,
    speech: readFileSync(CONVERSATION).subarray(WAVE_HEADER),
    speaking: new Floor(Math.min(sessions, speaking)),
    silent: new Floor(Math.min(sessions, silent)),
    latencies: new Latencies(),
    ended: [],
    count: (what) => {
      counts[what] = (counts[what] ?? 0) + 1;
    },
    random: new SeededRandom(seed),
    shortestSession: Math.min(120_000, whole / 6),
    longestSession: Math.min(900_000, whole / 2),
  };
}

async function pairAll(
  user: UserSession,
  fixture: SoakFixture,
  { sessions }: SoakOptions,
): Promise<SoakDevice[]> {
  const { id: workspaceId } = await chooseWorkspace(user);
  const devices: SoakDevice[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < sessions) {
      const n = next++;
      const device = await VirtualDevice.pair(user, { name: `Soak ${n}`, workspaceId });
      const isOf = (share: number) => (n * 7) % 10 < share * 10;
      const manner = {
        isStreaming: isOf(STREAMING_SHARE),
        isWatched: (n * 3) % 10 < WATCHED_SHARE * 10,
      };
      devices.push(new SoakDevice(device, fixture, manner));
    }
  };
  await Promise.all(Array.from({ length: PAIRED_TOGETHER }, work));
  return devices;
}

async function sample(
  sampler: SoakSampler,
  { latencies }: SoakFixture,
  { minutes, every, say }: SoakOptions,
): Promise<Sample[]> {
  const startedAt = performance.now();
  const samples: Sample[] = [];
  let lastAt = startedAt;
  for (let n = 1; n * every <= minutes * 60; n += 1) {
    await delay(Math.max(0, startedAt + n * every * 1_000 - performance.now()));
    const now = performance.now();
    const figures = { ...(await sampler.take((now - lastAt) / 60_000)), ...latencies.take() };
    lastAt = now;
    samples.push({ at: (now - startedAt) / 60_000, figures });
    say(briefly(figures));
  }
  return samples;
}

function briefly(figures: Readonly<Record<string, number>>): string {
  const shown = [
    ...["main MiB", "worker MiB", "postgres MiB", "sessions recording"],
    ...["final, streamed, p95 ms", "GET session p95 ms", "all tables MiB"],
  ];
  return shown.map((name) => `${name} ${(figures[name] ?? Number.NaN).toFixed(0)}`).join(", ");
}

/** As somebody does who looks at sessions in a browser. */
async function askNowAndThen(fixture: SoakFixture, over: AbortSignal): Promise<void> {
  const { user, latencies, ended, random } = fixture;
  const timed = async (name: string, ask: () => Promise<unknown>): Promise<void> => {
    const startedAt = performance.now();
    await ask();
    latencies.add(name, performance.now() - startedAt);
  };
  while (!over.aborted) {
    await delay(ASK_EVERY_MS);
    await timed("GET sessions", () =>
      user.call((client) => client.GET("/sessions", { params: { query: { limit: 20 } } })),
    );
    const id = ended.length === 0 ? undefined : random.pick(ended);
    if (id === undefined) continue;
    const params = { path: { session_id: id } };
    await timed("GET session", () =>
      user.call((client) => client.GET("/sessions/{session_id}", { params })),
    );
    await timed("GET segments", () =>
      user.call((client) => client.GET("/sessions/{session_id}/segments", { params })),
    ).catch(() => undefined);
  }
}

async function redoNowAndThen(
  { user, ended, random }: SoakFixture,
  counts: Record<string, number>,
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    await delay(REDO_EVERY_MS, undefined, { signal: over }).catch(() => undefined);
    const id = ended.length === 0 ? undefined : random.pick(ended);
    if (over.aborted || id === undefined) continue;
    const params = { path: { session_id: id } };
    const { transcription_job_id } = await user.call((client) =>
      client.GET("/sessions/{session_id}", { params }),
    );
    if (transcription_job_id === undefined) continue;
    const job = { path: { job_id: transcription_job_id } };
    // It may be read still, or once more.
    const isTaken = await user
      .call((client) => client.POST("/admin/jobs/transcriptions/{job_id}/redo", { params: job }))
      .then(
        () => true,
        () => false,
      );
    if (isTaken) counts.redos = (counts.redos ?? 0) + 1;
  }
}

async function deleteNowAndThen(
  { user, ended }: SoakFixture,
  counts: Record<string, number>,
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    await delay(DELETE_EVERY_MS, undefined, { signal: over }).catch(() => undefined);
    const id = over.aborted ? undefined : ended.shift();
    if (id === undefined) continue;
    const params = { path: { session_id: id } };
    await user.call((client) => client.DELETE("/sessions/{session_id}", { params }));
    counts.deletions = (counts.deletions ?? 0) + 1;
  }
}

/** Nothing is left to do once nobody sends any more. */
async function settled(database: Client): Promise<string[]> {
  let left: string[] = [];
  const isDone = async (): Promise<boolean> => {
    const { rows } = await database.query<Record<string, number>>(
      `select (select count(*)::int from sessions
                 where status in ('recording', 'processing')) as sessions,
              (select count(*)::int from jobs where status in ('queued', 'running')) as jobs,
              (select count(*)::int from outbox) as outbox,
              (select count(*)::int from sessions where status = 'failed') as failed`,
    );
    left = Object.entries(rows[0] ?? {})
      .filter(([, count]) => count !== 0)
      .map(([name, count]) => `${count} left in ${name}`);
    return left.length === 0;
  };
  await until(isDone, "everything to be read", SETTLE_MS).catch(() => undefined);
  return left;
}
