import type { QueueOwner } from "../base/queue-metrics.ts";
import { type Figure, type FigureByKind, OpsMetrics } from "../http/operations.ts";
import type { OutboxBacklog } from "../postgres/outbox-backlog.ts";
import type { SessionsRole } from "./sessions.ts";
import type { AppContext, Shared } from "./shared.ts";

export function createMetrics(
  { queues, shared, ceilings }: AppContext,
  { sessions, outbox }: { sessions: SessionsRole | undefined; outbox: OutboxBacklog },
  more: readonly (Figure | FigureByKind)[],
): OpsMetrics {
  queues.add(connectionsOf(shared));
  queues.add(shared.commands);
  return new OpsMetrics(
    [
      ...createFigures(shared, sessions),
      ...parkedFigures(outbox),
      ...more.filter((figure): figure is Figure => !isByKind(figure)),
    ],
    queues,
    [
      {
        name: "voice_quota_refused_total",
        help: "How often a ceiling kept something from beginning, since the start",
        kind: "counter",
        label: "ceiling",
        read: () => ceilings.refused,
      },
      {
        name: "voice_audio_damage_found_total",
        help: "Chunks whose stored audio was found damaged by this process, since the start",
        kind: "counter",
        label: "kind",
        read: () => shared.verified.found,
      },
      {
        name: "voice_readings_interrupted_total",
        help: "Readings of this host's sessions that broke and were begun again, since the start",
        kind: "counter",
        label: "reason",
        read: () => sessions?.interruptions ?? new Map(),
      },
      ...more.filter(isByKind),
    ],
    sessions === undefined
      ? []
      : [
          {
            name: "voice_final_seconds",
            help: "Time from the last audio that a final needed reaching its worker to the final",
            times: sessions.finals.times,
          },
        ],
  );
}

function isByKind(figure: Figure | FigureByKind): figure is FigureByKind {
  return "label" in figure;
}

/** Callers that wait for a database connection, as a queue; the pool rejects after 5 s. */
function connectionsOf({ pool, poolSize }: Shared): QueueOwner {
  return {
    get queues() {
      const { acquiredConnections: length } = pool.state();
      return [{ queue: "database_connections", length, limit: poolSize, refused: 0 }];
    },
  };
}

/** Figures of the whole service, which every process reports: alerts should use the highest. */
function parkedFigures(outbox: OutboxBacklog): Figure[] {
  return [
    {
      name: "voice_outbox_parked",
      help: "Commands to sessions that failed so often that they are tried no more",
      read: () => outbox.parked.count,
    },
    {
      name: "voice_outbox_parked_oldest_seconds",
      help: "Time since the first of them was put aside; 0 when there is none",
      read: () => outbox.parked.oldestSeconds,
    },
  ];
}

/** In another database's folder nothing is swept: what was found at the start. */
function unknownSessions({ audioFolder }: Shared, sessions: SessionsRole | undefined): number {
  if (audioFolder.kind === "foreign") return audioFolder.unknown;
  return sessions?.sweep.figures.unknownSessions ?? 0;
}

/** Each process tries the audio's disk for itself. */
function diskFigures({ audioWatch }: Shared): Figure[] {
  return [
    {
      name: "voice_audio_writable",
      help: "1 while files can be written to the folder of the audio, else 0",
      read: () => (audioWatch.check.status === "down" ? 0 : 1),
    },
    {
      name: "voice_audio_free_bytes",
      help: "Room on the disk of the audio; NaN while it does not report",
      read: () => audioWatch.room?.free ?? Number.NaN,
    },
    {
      name: "voice_audio_size_bytes",
      help: "Size of the disk of the audio; NaN while it does not report",
      read: () => audioWatch.room?.size ?? Number.NaN,
    },
    {
      name: "voice_audio_probe_seconds",
      help: "How long a small file takes there until it is durable, at the last try",
      read: () => audioWatch.seconds,
    },
  ];
}

function createFigures(shared: Shared, sessions: SessionsRole | undefined): Figure[] {
  return [
    {
      name: "voice_sessions_active",
      help: "Sessions in memory on this host",
      read: () => sessions?.host.size ?? 0,
    },
    {
      name: "voice_partitions_owned",
      help: "Partitions whose lease this host holds",
      read: () => sessions?.host.owned.length ?? 0,
    },
    {
      name: "voice_actor_fenced_total",
      help: "Writes of stale session actors that the journal refused, since the start",
      kind: "counter",
      read: () => sessions?.fenced() ?? 0,
    },
    {
      name: "voice_sessions_relapsed",
      help: "Sessions whose actor a fault ended within ten minutes, taken up again or not",
      read: () => sessions?.relapsed() ?? 0,
    },
    {
      name: "voice_webhooks_succeeded_total",
      help: "Webhook messages that arrived, since the start",
      kind: "counter",
      read: () => sessions?.webhooks.figures.succeeded ?? 0,
    },
    {
      name: "voice_webhooks_failed_total",
      help: "Attempts to send a webhook message that failed, since the start",
      kind: "counter",
      read: () => sessions?.webhooks.figures.failed ?? 0,
    },
    {
      name: "voice_finals_total",
      help: "Finals of workers to sessions of this host, since the start",
      kind: "counter",
      read: () => sessions?.finals.finals ?? 0,
    },
    {
      name: "voice_final_worker_seconds_total",
      help: "Time from the last audio that a final needed reaching its worker to the final",
      kind: "counter",
      read: () => sessions?.finals.seconds ?? 0,
    },
    {
      name: "voice_final_engine_seconds_total",
      help: "Of it, time in the engine for the final's session, and in the networks of voices where they alone were waited for",
      kind: "counter",
      read: () => sessions?.finals.engineSeconds ?? 0,
    },
    {
      name: "voice_audio_set_aside",
      help: "Audio files that no chunk names, kept aside for 30 days, at the last sweep",
      read: () => sessions?.sweep.figures.aside ?? 0,
    },
    {
      name: "voice_audio_damaged",
      help: "Chunks of the whole service whose stored audio is gone or damaged, at the last check",
      read: () => shared.damage.chunks,
    },
    {
      name: "voice_audio_scrubbed_bytes_total",
      help: "Stored audio that this process compared with its digests in the background",
      kind: "counter",
      read: () => sessions?.scrub.bytes ?? 0,
    },
    {
      name: "voice_audio_unknown_sessions",
      help: "Sessions with audio of which the database knows nothing, at the last sweep",
      read: () => unknownSessions(shared, sessions),
    },
    ...diskFigures(shared),
    {
      name: "voice_workers_known",
      help: "Workers heard lately",
      read: () => shared.placement.status().length,
    },
    {
      name: "voice_workers_available",
      help: "Workers that would take another session",
      read: () => shared.placement.status().filter(({ state }) => state === "available").length,
    },
    {
      name: "voice_database_waiting",
      help: "Queries that wait for a connection",
      read: () => shared.pool.state().waitingClients,
    },
  ];
}
