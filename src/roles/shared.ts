import { SYSTEM } from "../access/audit-entry.ts";
import { EndedRightsStore } from "../access/ended-rights-store.ts";
import { RevocationReader } from "../access/revocation-reader.ts";
import { workerInClear } from "../base/clear-text.ts";
import type { Clock } from "../base/clock.ts";
import { AppError, errorMessage } from "../base/errors.ts";
import { derivedId } from "../base/ids.ts";
import { inStep } from "../base/in-step.ts";
import type { Log } from "../base/log.ts";
import type { QueueMetrics } from "../base/queue-metrics.ts";
import { type Runtime, systemRuntime } from "../base/runtime.ts";
import type { Stack } from "../base/stack.ts";
import { PeriodicTask, type PeriodicWork } from "../base/work/periodic-task.ts";
import type { FeatureContext } from "../conversations/context.ts";
import { ErasureLedger } from "../conversations/erasure/ledger/erasure-ledger.ts";
import { LedgerFolder } from "../conversations/erasure/ledger/ledger-folder.ts";
import { ErasureLedgerStore } from "../conversations/erasure/ledger/ledger-store.ts";
import {
  type AudioFolder,
  claimAudioStore,
} from "../conversations/recording/audio-files/audio-folder-store.ts";
import { FragmentLogs } from "../conversations/recording/audio-files/fragment-logs.ts";
import { AudioWatch } from "../conversations/recording/durable-files/audio-watch.ts";
import {
  AudioDamage,
  AudioDamageStore,
} from "../conversations/recording/integrity/audio-damage-store.ts";
import { AudioMending } from "../conversations/recording/integrity/audio-mending.ts";
import { AudioVerification } from "../conversations/recording/integrity/audio-verification.ts";
import { StoredChunkStore } from "../conversations/recording/integrity/stored-chunks-store.ts";
import { VerifiedAudio } from "../conversations/recording/integrity/verified-audio.ts";
import { segmentCursor } from "../conversations/transcript/segments.ts";
import { Placement } from "../inference/placement.ts";
import { LiveLog, RecordedHeartbeat } from "../live/replay-store.ts";
import { Bus } from "../nats/bus.ts";
import { BusRevocations } from "../nats/bus-revocations.ts";
import { CommandSender, createNotifier } from "../nats/command-sender.ts";
import { followWorkers } from "../nats/connect.ts";
import { LiveFanout } from "../nats/live-fanout.ts";
import type { MessageBus } from "../nats/message-bus.ts";
import { PartitionOwners } from "../nats/partition-owners.ts";
import type { Ceilings } from "../postgres/ceilings.ts";
import { PostgresCommandRecord } from "../postgres/command-outcomes.ts";
import { DatabaseClock } from "../postgres/database-clock.ts";
import { claimKeys, noteSigningKey } from "../postgres/installation-keys.ts";
import { readOwners } from "../postgres/lease-store.ts";
import type { CommandNotifier } from "../postgres/outbox.ts";
import { createPool, durabilityFaults, type Pool } from "../postgres/pool.ts";
import { Tenants } from "../postgres/tenants.ts";
import { WaitingWorkStore } from "../postgres/waiting-work.ts";
import {
  fingerprintOf,
  type KeyMaterial,
  loadKeyFolder,
  parseKeyMaterial,
  SigningKeyWatch,
} from "../tenancy/accounts/signing-keys.ts";
import { AuditStore } from "../tenancy/audit/audit-store.ts";
import type { SpeechEngine } from "../wire/speech-engines.ts";
import { type OpenedAudio, openAudio } from "./audio.ts";
import type { Config } from "./config.ts";
import { OTHER_TABLES } from "./other-tables.ts";

/** Connections and parts that every role uses. */
export interface Shared extends OpenedAudio {
  /** The machine's runtime with the database's time of day. */
  runtime: Runtime;
  /** The same, for periodic background work. */
  background: Runtime;
  /** Tells which kinds of background work wait; background tasks ask it first. */
  work: WaitingWorkStore;
  pool: Pool;
  tenants: Tenants;
  poolSize: number;
  /** Reasons why the database may lose what it acknowledged, found at the start; mostly empty. */
  unsafe: readonly string[];
  /** Messages to other processes. */
  line: Bus;
  keys: KeyMaterial;
  /** The bytes of streams on their way into it. */
  logs: FragmentLogs;
  /** Whether files can be written there. */
  audioWatch: AudioWatch;
  /** Reads of `blobs`, compared with what is on record. */
  verified: VerifiedAudio;
  mending: AudioMending;
  verification: AudioVerification;
  damage: AudioDamage;
  commands: CommandSender;
  /** Delivers committed commands at once; the sweep of their host finds lost ones. */
  notifier: CommandNotifier;
  fanout: LiveFanout;
  placement: Placement;
  /** Whether the audio in the folder is this database's. */
  audioFolder: AudioFolder;
  /** What was erased, beside the audio. */
  ledger: ErasureLedger;
  liveLog: LiveLog;
  heartbeat: RecordedHeartbeat;
  revocations: BusRevocations;
}

export interface AppContext {
  config: Config;
  version: string;
  log: Log;
  clock: Clock;
  /** Clock, timers, randomness and new ids. */
  runtime: Runtime;
  stack: Stack;
  shared: Shared;
  /** Register of all queues, for metrics. */
  queues: QueueMetrics;
  ceilings: Ceilings;
}

/** The part of the context that features use. */
export function featureContext(app: AppContext): FeatureContext {
  const { log, clock, stack, shared, queues, ceilings } = app;
  const { pool, notifier, commands: actors, revocations, keys } = shared;
  const { cursorKey } = keys;
  const engines = (): readonly SpeechEngine[] => shared.placement.engines();
  const languageModels = () => shared.placement.languageModels();
  const { tenants } = shared;
  const context = { pool, clock, log, cursorKey, ceilings, notifier, actors, revocations, tenants };
  return { ...context, engines, languageModels, stack, queues, others: OTHER_TABLES };
}

/** Does this again and again until the process stops. */
export function startPeriodic(
  { log, stack, shared }: AppContext,
  name: string,
  work: PeriodicWork,
): void {
  stack.start(name, new PeriodicTask({ ...work, runtime: shared.background, log }));
}

/** Connects to the services that the process depends on. */
export async function openShared(config: Config, log: Log, stack: Stack): Promise<Shared> {
  const keys =
    config.keys === undefined
      ? await loadKeyFolder(config.keyFolder)
      : await parseKeyMaterial(config.keys);
  const { pool, runtime, unsafe } = await openDatabase(config, log, stack);
  const audio = await openAudio(config, pool, log, stack);
  const { blobs } = audio;
  const logs = new FragmentLogs({ store: blobs, runtime, log });
  stack.push("logs of streams", () => logs.stop());
  const audioFolder = await claimAudioStore(pool, blobs);
  if (audioFolder.kind === "foreign") log.error({}, audioFolder.message);
  const audioWatch = new AudioWatch({ disk: blobs, name: blobs.names, runtime, log });
  stack.start("audio watch", audioWatch);
  await claimKeys(pool, heldKeys(keys, config), runtime.now());
  if (config.keys === undefined) {
    const watch = new SigningKeyWatch({
      folder: config.keyFolder,
      ring: keys.ring,
      onAdded: async (kid) => {
        const signsFrom = keys.ring.get(kid)?.signsFrom ?? 0;
        await noteSigningKey(pool, { kid, signsFrom });
        await recordSigningKey(new AuditStore(pool), kid);
      },
      log,
    });
    await watch.start();
    stack.push("signing keys", () => watch.stop());
  }
  const ledger = await openLedger({ pool, blobs, keys, runtime }, log);
  const background = inStep(runtime);
  const messages = await openBus(config, { pool, runtime, background }, log, stack);
  const liveLog = new LiveLog(pool, {
    segmentCursor: (sessionId, position) => segmentCursor(keys.cursorKey, sessionId, position),
  });
  const heartbeat = new RecordedHeartbeat(pool, runtime);
  const poolSize = config.databasePoolSize;
  const work = new WaitingWorkStore(pool);
  const damages = new AudioDamageStore(pool);
  const { notifier } = messages;
  const mending = new AudioMending({ files: blobs, records: damages, notifier, log });
  const verified = new VerifiedAudio({ files: blobs, records: damages, notifier, log });
  const chunks = new StoredChunkStore(pool);
  const verification = new AudioVerification({ chunks, verified, clock: runtime });
  const damage = new AudioDamage(damages, runtime);
  const kept = {
    keys,
    ...audio,
    logs,
    verified,
    mending,
    verification,
    damage,
    audioFolder,
    audioWatch,
    ledger,
    liveLog,
    heartbeat,
    work,
  };
  const tenants = new Tenants(pool);
  return { pool, tenants, runtime, background, poolSize, unsafe, ...kept, ...messages };
}

async function openLedger(
  { pool, blobs, keys, runtime }: Pick<Shared, "pool" | "blobs" | "keys" | "runtime">,
  log: Log,
): Promise<ErasureLedger> {
  const folder = new LedgerFolder({ files: blobs.ledger, key: keys.ledgerKey });
  await folder.start();
  return new ErasureLedger({ folder, records: new ErasureLedgerStore(pool), clock: runtime, log });
}

type Messages = Pick<
  Shared,
  "line" | "commands" | "notifier" | "fanout" | "placement" | "revocations"
>;

/** Opens the message bus between processes. */
async function openBus(
  config: Config,
  { pool, runtime, background }: Pick<Shared, "pool" | "runtime" | "background">,
  log: Log,
  stack: Stack,
): Promise<Messages> {
  const { natsUrl: url, natsLogin, tls, nodeName: name } = config;
  const options = { url, ...natsLogin, tls, name, log };
  const line = await named("NATS (NATS_URL)", Bus.open(options, runtime));
  stack.push("bus connection", () => line.close());
  const revocations = await openRevocations(line, { pool, runtime: background }, log, stack);
  const commands = new CommandSender({
    line,
    owners: new PartitionOwners(() => readOwners(pool), runtime),
    record: new PostgresCommandRecord(pool),
    runtime,
  });
  commands.start();
  const notifier = createNotifier(commands, log);
  stack.push("command sender", () => commands.stop());
  const placement = new Placement({ runtime });
  stack.push(
    "worker discovery",
    followWorkers(line, {
      key: config.workerKey,
      onAnnouncement: (announcement) => placement.update(announcement),
      refusalOf: (address) => workerInClear(address, config),
      log,
    }),
  );
  const fanout = new LiveFanout(line, runtime);
  return { line, commands, notifier, fanout, placement, revocations };
}

/** Opens the revocation feed: fast over the bus, and reliably from the database. */
async function openRevocations(
  line: MessageBus,
  { pool, runtime }: Pick<Shared, "pool" | "runtime">,
  log: Log,
  stack: Stack,
): Promise<BusRevocations> {
  const revocations = new BusRevocations(line);
  stack.start("revocations", revocations);
  const record = new EndedRightsStore(pool);
  const notify = revocations.deliver.bind(revocations);
  const reader = new RevocationReader({ record, notify, runtime, log });
  await reader.start();
  stack.push("ended rights", () => reader.stop());
  return revocations;
}

async function openDatabase(
  config: Config,
  log: Log,
  stack: Stack,
): Promise<Pick<Shared, "pool" | "runtime" | "unsafe">> {
  const pool = await named(
    "PostgreSQL (DATABASE_URL)",
    createPool(config.databaseUrl, { maximumPoolSize: config.databasePoolSize }),
  );
  stack.push("database pool", () => pool.end());
  const clock = new DatabaseClock(pool, systemRuntime);
  await clock.start();
  stack.push("clock", () => clock.stop());
  const unsafe = await checkDurability(pool, config, log);
  return { pool, runtime: clock.runtime, unsafe };
}

/**
 * Checks that acknowledged audio survives a power failure; throws, or only logs if that is allowed.
 */
async function checkDurability(
  pool: Shared["pool"],
  { allowUnsafeDatabase }: Config,
  log: Log,
): Promise<readonly string[]> {
  const faults = await durabilityFaults(pool);
  if (faults.length === 0) return faults;
  const told = `PostgreSQL may lose what it has acknowledged. ${faults.join(" ")}`;
  if (!allowUnsafeDatabase) {
    throw new AppError(
      "unavailable",
      `${told} The service does not start like this: set it right, or, where audio may be lost or the database's storage prevents that by other means, set ALLOW_UNSAFE_DATABASE=1.`,
    );
  }
  log.warn({ faults }, "the database is not durable: acknowledged audio may be lost");
  return faults;
}

/** The keys as the database needs to know them. */
function heldKeys({ ring, pepper, cursorKey }: KeyMaterial, config: Config) {
  return {
    signing: ring.keys,
    pairingFingerprint: fingerprintOf(pepper),
    cursorFingerprint: fingerprintOf(cursorKey),
    folder: config.keys === undefined ? config.keyFolder : undefined,
  };
}

/** Writes one audit entry for a new key, although every process sees it. */
function recordSigningKey(audit: AuditStore, kid: string): Promise<void> {
  const entry = { kind: "signing_key_rotated", actor: SYSTEM, detail: { kid } } as const;
  return audit.recordOnce(derivedId("signing_key_rotated", kid), entry);
}

/** Adds the name of the part that cannot be reached to the error. */
async function named<T>(part: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const message = `${part} cannot be reached: ${errorMessage(error)}`;
    throw new AppError("unavailable", message, { cause: error });
  }
}
