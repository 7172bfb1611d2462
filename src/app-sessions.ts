import { randomBytes } from "node:crypto";
import type { CompanionContext } from "./actor/behaviour.ts";
import { ActorHost } from "./actor/host.ts";
import { PartitionOwner } from "./actor/partition-owner.ts";
import { Sweeper } from "./actor/sweeper.ts";
import { startPresence } from "./app-devices.ts";
import { startJobs } from "./app-jobs.ts";
import type { AppContext } from "./app-shared.ts";
import { startWebhooks } from "./app-webhooks.ts";
import { AppError } from "./base/errors.ts";
import type { Log } from "./base/log.ts";
import { KvLeaseTable } from "./bus/kv-lease-table.ts";
import { BusAudio } from "./bus/live-audio.ts";
import { PartitionInbox } from "./bus/partition-inbox.ts";
import { TurnPublisher } from "./bus/turn-publisher.ts";
import { FinalTimes } from "./inference/final-times.ts";
import { LiveTails } from "./inference/live-tails.ts";
import { PlacedTranscribers } from "./inference/placed-transcribers.ts";
import { SessionCompanion } from "./inference/session-companion.ts";
import { WorkerClient } from "./inference/worker-client.ts";
import type { WebhookSender } from "./jobs/webhook-sender.ts";
import { sessionBehaviour } from "./session/behaviour.ts";
import type { SessionCommand } from "./session/command.ts";
import type { SessionEvent } from "./session/event.ts";
import { tryOutsideCommand } from "./session/outside-command.ts";
import type { SessionState } from "./session/state.ts";
import type { SessionWrite } from "./session/write.ts";
import { BlobSweep } from "./store/blob-sweep.ts";
import { renderFrames } from "./store/live-frames.ts";
import { ReadingPositions } from "./store/reading-positions.ts";
import { SessionAudio } from "./store/session-audio.ts";
import { SessionBacklog } from "./store/session-backlog.ts";
import { SessionJournal } from "./store/session-journal.ts";
import type { DeviceFrame } from "./wire/live-frames.ts";

type SessionHost = ActorHost<SessionState, SessionEvent, SessionWrite, SessionCommand>;

export interface SessionsRole {
  host: SessionHost;
  /** Writes that the journal refused, as another activation had taken over. */
  fenced(): number;
  /** Sessions whose actor a fault ended not long ago. */
  relapsed(): number;
  finals: FinalTimes;
  webhooks: WebhookSender;
}

/** For putting the sessions away, with a snapshot of each, when the process is told to stop. */
const HAND_OVER_MS = 10_000;

/** The role that hosts session actors. */
export async function startSessions(context: AppContext): Promise<SessionsRole> {
  const { config, log, runtime, stack, shared, queues } = context;
  startBlobSweep(context);
  const client = new WorkerClient();
  stack.push("worker client", () => client.close());
  let fenced = 0;
  const finals = new FinalTimes();
  const positions = new ReadingPositions(shared.pool, log, runtime);
  stack.push("reading positions", () => positions.stop());
  const host: SessionHost = createHost(context, client, {
    finals,
    deviceOf: (id) => presence.of(id),
    readTo: (id, samples) => positions.note(id, samples),
    onFenced: () => {
      fenced += 1;
    },
    onFailed: (id) => sweeper.failed(id),
  });
  host.start();
  const presence = startPresence(context, () => host.owned);
  queues.add(host);
  queues.add(client);
  const deliver = (sessionId: string, command: Record<string, unknown>, id: string) =>
    deliverTo(host, log, sessionId, command, id);
  const inbox = new PartitionInbox({
    connection: shared.bus,
    deliver: ({ sessionId, command, id }) => deliver(sessionId, command, id),
    log,
    replicas: config.natsReplicas,
    runtime,
  });
  stack.push("command inbox", () => inbox.stop());
  queues.add(inbox);
  const sweeper = startSweeper(context, host, deliver);
  const table = new KvLeaseTable(shared.bus, runtime, config.natsReplicas);
  stack.push("lease table", () => table.stop());
  const owner = new PartitionOwner({
    host: hostName(config.nodeName),
    table,
    runtime,
    log,
    leaseTime: config.leaseMs,
    onTaken: (partition) => {
      host.own(partition);
      inbox.open(partition);
      sweeper.taken(partition);
    },
    onReleased: (partition) => {
      inbox.close(partition);
      return host.release(partition);
    },
    onLost: (partition) => {
      inbox.close(partition);
      return host.lose(partition);
    },
  });
  await owner.start();
  stack.push("actor host", () => host.drain());
  stack.push("partitions", () => owner.stop(), HAND_OVER_MS);
  startJobs(context, client);
  return {
    host,
    finals,
    fenced: () => fenced,
    relapsed: () => sweeper.relapsed,
    webhooks: startWebhooks(context),
  };
}

function startSweeper(
  { runtime, log, shared, stack }: AppContext,
  host: SessionHost,
  deliver: (sessionId: string, command: Record<string, unknown>, id: string) => Promise<unknown>,
): Sweeper {
  const sweeper = new Sweeper({
    backlog: new SessionBacklog(shared.pool),
    owned: () => host.owned,
    activate: (id) => host.activate(id),
    deliver: ({ id, sessionId, command }) => deliver(sessionId, command, id),
    runtime,
    log,
    every: 1_000,
    olderThan: 2_000,
    limit: 500,
  });
  sweeper.start();
  stack.push("sweeper", () => sweeper.stop());
  return sweeper;
}

function startBlobSweep({ log, shared, stack }: AppContext): void {
  const sweep = new BlobSweep(shared.blobs, shared.pool, log);
  sweep.start();
  stack.push("audio sweep", () => sweep.stop());
}

/** Another one after every start, so that a host never takes over its own old lease. */
function hostName(nodeName: string): string {
  const name = `${nodeName}-${process.pid}-${randomBytes(3).toString("hex")}`;
  return name.replace(/[^\w-]/g, "_");
}

function deliverTo(
  host: SessionHost,
  log: Log,
  sessionId: string,
  value: Record<string, unknown>,
  commandId: string,
): Promise<unknown> {
  const command = tryOutsideCommand(value);
  if (command !== undefined) return host.deliver(sessionId, command, commandId);
  log.error({ session_id: sessionId, command: String(value.type) }, "unknown command dropped");
  return Promise.reject(new AppError("bad_request", "This command is not known."));
}

interface HostHooks {
  finals: FinalTimes;
  deviceOf(sessionId: string): DeviceFrame | undefined;
  readTo(sessionId: string, samples: number): void;
  onFenced(): void;
  onFailed(sessionId: string): void;
}

function createHost(
  context: AppContext,
  client: WorkerClient,
  { finals, deviceOf, readTo, onFenced, onFailed }: HostHooks,
): SessionHost {
  const { config, log, runtime, shared, queues } = context;
  const transcribers = new PlacedTranscribers(shared.placement, client, config.workerKey);
  const source = new SessionAudio(shared.pool, (id, sha256) => shared.blobs.read(id, sha256));
  const tails = new LiveTails(new BusAudio(shared.bus), source);
  queues.add(tails);
  const publisher = new TurnPublisher({
    fanout: shared.fanout,
    log,
    render: renderFrames,
    lookUp: (sessionId, events) => shared.liveLog.render(sessionId, events),
  });
  queues.add(publisher);
  const createCompanion = ({ id, epoch, tell }: CompanionContext<SessionCommand>) =>
    new SessionCompanion({
      sessionId: id,
      source,
      transcribers,
      tails,
      log: log.child({ session_id: id, epoch }),
      runtime,
      tell,
      times: finals,
      device: () => deviceOf(id),
      readTo,
      publish: (frame) => publisher.transient(id, frame),
      publishTurn: (turn) => publisher.turn(id, turn),
    });
  const backlog = new SessionBacklog(shared.pool);
  return new ActorHost({
    activation: {
      behaviour: sessionBehaviour,
      journal: new SessionJournal(shared.pool, onFenced),
      createCompanion,
      runtime,
      log,
      mailboxCapacity: 1_024,
      batchSize: 64,
      snapshotEvery: 200,
      appendAttempts: 8,
      outstanding: (id) => outstanding(backlog, id),
    },
    maxActivations: 10_000,
    passivateAfter: config.passivateMs,
    sweepEvery: 10_000,
    onFailed,
  });
}

async function outstanding(
  backlog: SessionBacklog,
  sessionId: string,
): Promise<{ id: string; command: SessionCommand }[]> {
  const rows = await backlog.commandsTo(sessionId);
  return rows.flatMap(({ id, command: value }) => {
    const command = tryOutsideCommand(value);
    return command === undefined ? [] : [{ id, command }];
  });
}
