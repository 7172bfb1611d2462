import { AudioStreams } from "./api/audio-streams.ts";
import type { CommandNotifier } from "./api/sessions-outbox.ts";
import { StreamSealer } from "./api/stream-sealer.ts";
import type { UploadBacklog } from "./api/upload-backlog.ts";
import type { AppContext, Shared } from "./app-shared.ts";
import { BusAudio, BusStreamNotices } from "./bus/live-audio.ts";
import { PostgresAudioStreams } from "./store/audio-streams.ts";
import { PostgresDeviceSigns } from "./store/device-signs.ts";
import { OutboxBacklog } from "./store/outbox-backlog.ts";
import { PostgresUnsealedChunks } from "./store/unsealed-chunks.ts";

/** Commands that actors have yet to carry out, beyond which devices are told to wait. */
const MAX_OUTBOX = 50_000;

/** Publishes committed commands at once; the actors' sweep finds what this loses. */
export function createNotifier({ commands }: Shared): CommandNotifier {
  return {
    async notify(rows) {
      for (const { id, sessionId, command } of rows) commands.post(sessionId, command, id);
    },
  };
}

/** What makes chunks of streamed audio. */
export function createSealer(
  { log, runtime, shared }: AppContext,
  notifier: CommandNotifier,
): StreamSealer {
  const unsealed = new PostgresUnsealedChunks(shared.pool);
  return new StreamSealer({ unsealed, blobs: shared.blobs, notifier, runtime, log });
}

/** Looks at the outbox for as long as the process runs. */
export function startBacklog({ shared, log, stack, queues }: AppContext): OutboxBacklog {
  const backlog = new OutboxBacklog(shared.pool, log, MAX_OUTBOX);
  backlog.start();
  stack.push("outbox watch", () => backlog.stop());
  queues.add(backlog);
  return backlog;
}

/** Streams of audio into sessions, whoever sends them. */
export function createAudioStreams(
  context: AppContext,
  notifier: CommandNotifier,
  backlog: UploadBacklog,
): AudioStreams {
  const { log, runtime, shared, stack, queues } = context;
  const store = new PostgresAudioStreams(shared.pool);
  queues.add(store);
  const streams = new AudioStreams({
    store,
    sealer: createSealer(context, notifier),
    live: new BusAudio(shared.line),
    notices: new BusStreamNotices(shared.line),
    signs: new PostgresDeviceSigns(shared.pool),
    notifier,
    backlog,
    runtime,
    log,
  });
  queues.add(streams);
  streams.start();
  stack.push("audio streams", () => streams.stop());
  return streams;
}
