import { EndedRightsStore } from "../access/ended-rights-store.ts";
import { createErasure } from "../conversations/erasure/feature.ts";
import type { ErasureLedger } from "../conversations/erasure/ledger/erasure-ledger.ts";
import type { RepeatedErasure } from "../conversations/erasure/repeated-erasure.ts";
import type { RepeatedRedaction } from "../conversations/erasure/repeated-redaction.ts";
import { retentionList } from "../conversations/erasure/session-erasure.ts";
import { RetentionStore } from "../conversations/erasure/session-erasure-store.ts";
import { Maintenance, type MaintenanceTask } from "../conversations/jobs/maintenance.ts";
import { AutoStop } from "../conversations/recording/auto-stop.ts";
import { SilentSessionStore } from "../conversations/recording/silent-sessions-store.ts";
import { SessionStore } from "../conversations/sessions/store.ts";
import { OldestProcessing } from "../conversations/sessions/transcription-progress-store.ts";
import { automaticNotes, NotesStore } from "../conversations/summaries/notes-store.ts";
import { CandidateStore, expiredCandidates } from "../conversations/transcript/candidates-store.ts";
import { dropStaleEdits } from "../conversations/transcript/segments-store.ts";
import { expiredUploads, IncomingFolder } from "../conversations/uploads/incoming-folder.ts";
import { UploadStore } from "../conversations/uploads/store.ts";
import type { Figure, FigureByKind } from "../http/operations.ts";
import { CompatLeftovers, leftoversList } from "../openai-deepgram/leftovers-store.ts";
import { StoredAudio } from "../postgres/ceilings.ts";
import { isWaiting, type WaitingWork } from "../postgres/waiting-work.ts";
import { FailedSignInStore } from "../tenancy/audit/failed-sign-ins-store.ts";
import { DeliveryQueueStore } from "../tenancy/webhooks/queue-store.ts";
import { InvitationStore } from "../tenancy/workspaces/invitations/store.ts";
import { createRedaction } from "./audio.ts";
import { createRepeatedRedaction, erasureEffects } from "./erasure.ts";
import { OTHER_TABLES } from "./other-tables.ts";
import { type AppContext, featureContext } from "./shared.ts";
import { createAssembler } from "./streams.ts";

const SECOND = 1_000;
const HOUR = 3_600_000;

/**
 * Starts the maintenance tasks: they finish deletions, silence redacted audio, and apply retention
 * times. Returns figures of the whole service, which every process with them reports.
 */
export function startMaintenance(
  context: AppContext,
  repeated: RepeatedErasure,
  isFirst: () => boolean,
): (Figure | FigureByKind)[] {
  const { log, clock, stack, shared } = context;
  const { work, background } = shared;
  const ifAny = (kind: keyof WaitingWork) => ({ isWanted: () => isWaiting(work, kind) });
  const directory = new SessionStore(shared.pool);
  const { sessions, accounts } = createErasure(featureContext(context), {
    directory,
    ...erasureEffects(shared),
  });
  const redactions = createRepeatedRedaction(context);
  const retention = new RetentionStore(shared.pool);
  const expired = retentionList(retention, sessions);
  const leftovers = leftoversList(new CompatLeftovers(shared.pool), sessions);
  const candidates = expiredCandidates({
    candidates: new CandidateStore(shared.pool),
    actors: shared.commands,
    clock,
    log,
  });
  const deliveries = new DeliveryQueueStore(shared.pool);
  const invitations = new InvitationStore(shared.pool, OTHER_TABLES);
  const endedRights = new EndedRightsStore(shared.pool);
  const redaction = createRedaction(shared, log);
  const notes = automaticNotes(new NotesStore(shared.pool), { clock, log });
  const assembler = createAssembler(context);
  const gauges = {
    storedAudio: new StoredAudio(shared.pool),
    processing: new OldestProcessing(shared.pool),
  };
  const maintenance = new Maintenance(
    [
      { name: "redacted audio", every: SECOND, ...ifAny("silence"), run: () => redaction.run() },
      {
        name: "abandoned streams",
        every: 5 * SECOND,
        ...ifAny("fragments"),
        run: () => assembler.assembleAbandoned(),
      },
      {
        name: "audio of deleted sessions",
        every: 10 * SECOND,
        ...ifAny("files"),
        run: () => sessions.finish(),
      },
      ...ledgerTasks(shared.ledger, repeated, redactions),
      { name: "erased accounts", every: 10 * SECOND, run: () => accounts.finish() },
      ...uploadTasks(context),
      { name: "notes of ended sessions", every: 2 * SECOND, run: () => notes.ended.run() },
      { name: "notes of live sessions", every: HOUR / 120, run: () => notes.live.run() },
      { name: "retention", every: HOUR / 6, run: () => expired.run() },
      {
        name: "sessions that programs did not keep",
        every: HOUR / 60,
        run: () => leftovers.run(),
      },
      { name: "webhook deliveries", every: HOUR / 6, run: () => deliveries.clean(clock.now()) },
      { name: "ended rights", every: HOUR / 6, run: () => endedRights.prune() },
      { name: "expired invitations", every: HOUR / 6, run: () => invitations.forget() },
      ...failedSignInTasks(context),
      refresh("stored audio", HOUR / 12, gauges.storedAudio),
      refresh("damaged audio", HOUR / 60, shared.damage),
      refresh("sessions that are processed", HOUR / 60, gauges.processing),
      ...autoStopTasks(context),
      {
        name: "redos that nobody chose",
        every: HOUR / 6,
        run: () => candidates.run(),
      },
      { name: "edits that came to nothing", every: HOUR, run: () => dropStaleEdits(shared.pool) },
    ],
    log,
    background,
    isFirst,
  );
  stack.start("maintenance", maintenance);
  const deletions = [sessions, accounts, expired, leftovers, repeated, redactions];
  return [...figuresOf(gauges, deletions), agesOf(maintenance)];
}

function agesOf(maintenance: Maintenance): FigureByKind {
  return {
    name: "voice_maintenance_last_success_seconds",
    help: "Time since each task that this process began last worked; of several processes the least counts",
    kind: "gauge",
    label: "task",
    read: () => maintenance.ages,
  };
}

function figuresOf(
  { storedAudio, processing }: { storedAudio: StoredAudio; processing: OldestProcessing },
  deletions: readonly { failing: number }[],
): Figure[] {
  return [
    {
      name: "voice_stored_audio_bytes",
      help: "Audio of all sessions, in bytes, looked up every five minutes",
      read: () => storedAudio.bytes,
    },
    {
      name: "voice_processing_oldest_seconds",
      help: "Time since the stop of the session that is processed for longest, looked up every minute; 0 when there is none",
      read: () => processing.seconds,
    },
    {
      name: "voice_deletions_failing",
      help: "Deletions of sessions that failed when last tried; each is tried again within ten minutes",
      read: () => deletions.reduce((n, { failing }) => n + failing, 0),
    },
  ];
}

/** Unfinished files that nobody goes on with. */
function uploadTasks({ shared, ceilings, clock, log }: AppContext): MaintenanceTask[] {
  const { pool, blobs } = shared;
  const folder = new IncomingFolder(blobs.uploadsFolder, blobs.temporaryFolder);
  const expired = expiredUploads({ uploads: new UploadStore(pool, ceilings), folder, clock, log });
  return [
    { name: "expired uploads", every: HOUR / 6, run: () => expired.run() },
    { name: "files of no upload", every: HOUR, run: () => folder.sweep(clock.now()) },
  ];
}

/** What comes into the ledger of erasures, and what comes out of it. */
function ledgerTasks(
  ledger: ErasureLedger,
  repeated: RepeatedErasure,
  redactions: RepeatedRedaction,
): MaintenanceTask[] {
  const record = () => ledger.recordPending();
  return [
    { name: "ledger of erasures", every: 10 * SECOND, run: record },
    { name: "redactions again", every: HOUR, run: () => redactions.run() },
    { name: "erasures again", every: HOUR, everywhere: true, run: () => repeated.run() },
  ];
}

/** What the figures of each process are looked up by. */
function refresh(
  name: string,
  every: number,
  of: { refresh(): Promise<unknown> },
): MaintenanceTask {
  return { name, every, everywhere: true, run: () => of.refresh().then(() => 0) };
}

/** How long the network addresses of failed sign-ins are kept beside the audit log. */
const ADDRESS_DAYS = 30;

/** What becomes of counted failures: entries of the audit log, and addresses that end. */
function failedSignInTasks({ shared }: AppContext): MaintenanceTask[] {
  const store = new FailedSignInStore(shared.pool, shared.keys.addressKey);
  const forget = () => store.forgetAddresses(ADDRESS_DAYS);
  return [
    { name: "failed sign-ins", every: HOUR / 12, run: () => store.closeHours() },
    { name: "addresses of failed sign-ins", every: HOUR, run: forget },
  ];
}

/** The task that stops sessions of silent devices, unless it is disabled. */
function autoStopTasks({ config, shared }: AppContext): MaintenanceTask[] {
  if (config.autoStopSilence === 0) return [];
  const autoStop = new AutoStop({
    sessions: new SilentSessionStore(shared.pool, shared.work),
    notifier: shared.notifier,
    silence: config.autoStopSilence * 1_000,
  });
  // It runs in every process, because each one knows only for itself since when it could receive.
  const everywhere = true;
  const { every } = autoStop;
  return [{ name: "sessions of silent devices", every, everywhere, run: () => autoStop.run() }];
}
