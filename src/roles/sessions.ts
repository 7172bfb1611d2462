import { randomBytes } from "node:crypto";
import { JobQueueStore } from "../conversations/jobs/queue-store.ts";
import { createJobRunner } from "../conversations/jobs/runner.ts";
import { BlobSweep } from "../conversations/recording/audio-files/blob-sweep-store.ts";
import { AudioScrub } from "../conversations/recording/integrity/audio-scrub.ts";
import { StoredChunkStore } from "../conversations/recording/integrity/stored-chunks-store.ts";
import { PostgresDeviceSigns } from "../conversations/sessions/device-signs-store.ts";
import { Summarisation, WorkerSummariser } from "../conversations/summaries/job.ts";
import { SummaryJobStore } from "../conversations/summaries/job-store.ts";
import { WorkerClient } from "../inference/worker-client.ts";
import { WorkerTranscribers } from "../inference/worker-transcribers.ts";
import { SessionJournal } from "../journal/session-journal.ts";
import { PostgresLeaseTable } from "../postgres/lease-store.ts";
import { SessionBacklog } from "../postgres/outbox.ts";
import { createPool } from "../postgres/pool.ts";
import { FinalTimes } from "../recognition/final-times.ts";
import type { InterruptionCounts } from "../recognition/interruptions.ts";
import { partMeasure } from "../recognition/part-measure-store.ts";
import { SessionAudio } from "../recognition/session-audio-store.ts";
import { TranscriptionPositions } from "../recognition/transcription-positions-store.ts";
import { PresenceWatch } from "../tenancy/devices/presence.ts";
import { RecordingDeviceStore } from "../tenancy/devices/presence-store.ts";
import { AddressGuard } from "../tenancy/webhooks/address-guard.ts";
import { DeliveryQueueStore } from "../tenancy/webhooks/queue-store.ts";
import { WebhookSecrets } from "../tenancy/webhooks/secrets.ts";
import { WebhookSender } from "../tenancy/webhooks/sender.ts";
import { JOBS_WAITING } from "../wire/subjects.ts";
import { type Actors, createActors, HAND_OVER_MS, type SessionHost } from "./actors.ts";
import { type AppContext, startPeriodic } from "./shared.ts";

export interface SessionsRole {
  host: SessionHost;
  /** True on the one host that runs the tasks of the whole service. */
  isFirst(): boolean;
  /** Number of writes that the journal refused because another activation had taken over. */
  fenced(): number;
  /** Number of sessions whose actor is backing off after a fault. */
  relapsed(): number;
  finals: FinalTimes;
  interruptions: InterruptionCounts;
  webhooks: WebhookSender;
  sweep: Pick<BlobSweep, "figures">;
  scrub: Pick<AudioScrub, "bytes">;
}

/** Starts the role that hosts session actors. */
export async function startSessions(context: AppContext): Promise<SessionsRole> {
  const { config, log, runtime, stack, shared, queues } = context;
  const sweep = startBlobSweep(context);
  const client = new WorkerClient({ tls: config.tls, now: () => context.clock.now() });
  stack.push("worker client", () => client.close());
  let fenced = 0;
  const finals = new FinalTimes();
  const interruptions: InterruptionCounts = new Map();
  const positions = new TranscriptionPositions(shared.pool, log, runtime);
  stack.push("reading positions", () => positions.stop());
  const name = hostName(config.nodeName);
  const audio = new SessionAudio(shared.pool, shared.verified);
  const actors = createActors({
    host: name,
    journal: new SessionJournal(shared.pool, () => {
      fenced += 1;
    }),
    backlog: new SessionBacklog(shared.pool, shared.work),
    source: audio,
    transcribers: new WorkerTranscribers(
      shared.placement,
      client,
      config.workerKey,
      config.speechEngine,
    ),
    measure: partMeasure(shared.pool, { sounds: shared.sounds, audio, runtime }),
    line: shared.line,
    table: await openLeases(context, name),
    fanout: shared.fanout,
    deviceOf: (id) => presence.of(id),
    readTo: (id, samples) => positions.note(id, samples),
    ...{ finals, interruptions },
    signs: new PostgresDeviceSigns(shared.pool),
    patience: config.patience,
    leaseMs: config.leaseMs,
    passivateMs: config.passivateMs,
    runtime,
    background: shared.background,
    log,
  });
  const { host, inbox, sweeper, owner, tails } = actors;
  const presence = startPresence(context, () => host.owned);
  for (const owner of [host, client, inbox, tails]) queues.add(owner);
  await startActors(context, actors);
  startJobs(context, client);
  const isFirst = () => owner.owned.has(0);
  return {
    host,
    isFirst,
    ...{ finals, interruptions },
    fenced: () => fenced,
    relapsed: () => sweeper.relapsed,
    webhooks: startWebhooks(context),
    sweep,
    scrub: startAudioScrub(context, isFirst),
  };
}

async function startActors(
  { stack }: AppContext,
  { host, inbox, sweeper, owner }: Actors,
): Promise<void> {
  host.start();
  stack.start("command inbox", inbox);
  stack.start("sweeper", sweeper);
  await owner.start();
  stack.push("actor host", () => host.drain());
  stack.push("partitions", () => owner.stop(), HAND_OVER_MS);
}

/**
 * Opens the leases over a separate connection, whose end shows the others that this host is gone.
 */
async function openLeases(
  { config, stack }: AppContext,
  name: string,
): Promise<PostgresLeaseTable> {
  const timeout = Math.round(config.leaseMs * 0.4);
  const pool = await createPool(config.databaseUrl, {
    maximumPoolSize: 1,
    statementTimeout: timeout,
    silenceTimeout: timeout + 100,
  });
  stack.push("lease connection", () => pool.end());
  return new PostgresLeaseTable(pool, name);
}

/** Nothing is swept in a folder that may be another database's. */
function startBlobSweep(context: AppContext): BlobSweep {
  const { log, shared } = context;
  const sweep = new BlobSweep(shared.blobs, shared.pool, log);
  if (shared.audioFolder.kind === "own") startPeriodic(context, "audio sweep", sweep.task);
  return sweep;
}

/** In another database's folder nothing is damaged only because this one does not know it. */
function startAudioScrub(context: AppContext, isOurs: () => boolean): AudioScrub {
  const { config, log, shared } = context;
  const scrub = new AudioScrub({
    verification: shared.verification,
    rounds: new StoredChunkStore(shared.pool),
    isOurs,
    bytesPerMinute: config.audioScrubBytes,
    log,
  });
  const isWanted = config.audioScrubBytes > 0 && shared.audioFolder.kind === "own";
  if (isWanted) startPeriodic(context, "audio scrub", scrub.task);
  return scrub;
}

/**
 * A host name that is different after every start, so that a host never takes over its own old
 * lease.
 */
function hostName(nodeName: string): string {
  const name = `${nodeName}-${process.pid}-${randomBytes(3).toString("hex")}`;
  return name.replace(/[^\w-]/g, "_");
}

/** Watches the devices of this host's sessions. */
function startPresence(context: AppContext, owned: () => readonly number[]): PresenceWatch {
  const { shared } = context;
  const watch = new PresenceWatch({
    devices: new RecordingDeviceStore(shared.pool, shared.work),
    owned,
    publish: (sessionId, frame) => shared.fanout.publish(sessionId, [frame]),
    clock: shared.background,
  });
  startPeriodic(context, "presence of devices", watch.task);
  return watch;
}

const JOBS_AT_ONCE = 8;

/** Runs batch jobs; every host of the role `sessions` does. */
function startJobs(context: AppContext, client: WorkerClient): void {
  const { config, log, stack, shared, queues } = context;
  const { pool, work, placement, notifier, line, background: runtime } = shared;
  const summariser = new WorkerSummariser({ placement, client, key: config.workerKey });
  const runner = createJobRunner({
    queue: new JobQueueStore(pool, work),
    handlers: [
      new Summarisation(new SummaryJobStore(pool, config.modelTokens), summariser, notifier),
    ],
    // Most of the time of one that a language model words is waiting.
    concurrency: JOBS_AT_ONCE,
    log,
    runtime,
  });
  queues.add(runner);
  stack.push(
    "job news",
    line.subscribe(JOBS_WAITING, () => runner.wake()),
  );
  stack.start("job runner", runner);
}

/** Starts the sender of webhooks, which is part of the sessions role. */
function startWebhooks(context: AppContext): WebhookSender {
  const { config, log, stack, shared, queues } = context;
  const sender = new WebhookSender({
    queue: new DeliveryQueueStore(shared.pool, shared.work),
    secrets: new WebhookSecrets(shared.keys.webhookKey),
    guard: new AddressGuard({ allowPrivate: config.webhookAllowPrivate }),
    runtime: shared.background,
    log,
    parallel: 16,
    every: 1_000,
    timeout: 15_000,
    lease: 30_000,
    grace: 1_500,
  });
  queues.add(sender.runner);
  stack.start("webhook sender", sender.runner);
  return sender;
}
