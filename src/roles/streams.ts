import { ChunkAssembler } from "../conversations/recording/chunk-assembler.ts";
import { PostgresOpenChunks } from "../conversations/recording/open-chunks-store.ts";
import { AudioStreams } from "../conversations/recording/stream-routes.ts";
import {
  PostgresAudioStreams,
  PostgresStreamSigns,
} from "../conversations/recording/stream-store.ts";
import { BusAudio, BusStreamNotices } from "../nats/live-audio.ts";
import { OutboxBacklog } from "../postgres/outbox-backlog.ts";
import { type AppContext, startPeriodic } from "./shared.ts";

/** Numbers of waiting commands from which devices are told to wait. */
const MAX_OUTBOX = { session: 2_000, partition: 5_000 };

/** Creates what turns streamed audio into chunks. */
export function createAssembler({ log, runtime, shared }: AppContext): ChunkAssembler {
  const { pool, blobs, logs, notifier, mending } = shared;
  return new ChunkAssembler({
    openChunks: new PostgresOpenChunks(pool),
    blobs,
    logs,
    notifier,
    mending,
    runtime,
    log,
  });
}

/** Starts the periodic count of the outbox. */
export function startBacklog(context: AppContext): OutboxBacklog {
  const { shared, queues } = context;
  const backlog = new OutboxBacklog(shared.pool, MAX_OUTBOX, shared.work);
  startPeriodic(context, "outbox watch", backlog.task);
  queues.add(backlog);
  return backlog;
}

/** Creates the audio streams of this process, for devices and services. */
export function createAudioStreams(context: AppContext, backlog: OutboxBacklog): AudioStreams {
  const { log, runtime, shared, stack, queues } = context;
  const store = new PostgresAudioStreams(shared.pool);
  queues.add(store);
  const streams = new AudioStreams({
    store,
    logs: shared.logs,
    assembler: createAssembler(context),
    live: new BusAudio(shared.line),
    notices: new BusStreamNotices(shared.line),
    signs: new PostgresStreamSigns(shared.pool),
    notifier: shared.notifier,
    backlog,
    runtime,
    log,
  });
  queues.add(streams);
  stack.start("audio streams", streams);
  return streams;
}
