import { basename } from "node:path";
import type { Attempts } from "../../client/back-off.ts";
import { type ChosenWorkspace, chooseWorkspace } from "../client/flags.ts";
import type { UserSession } from "../client/user-session.ts";
import { type ChunkCodec, cutIntoChunks } from "./audio-chunks.ts";
import type { DeviceShelf } from "./device-shelf.ts";
import { type StreamProgress, streamChunks } from "./device-stream.ts";
import { startRecording } from "./simulated-device.ts";
import { streamRecordings } from "./stream-audio.ts";
import { unpair } from "./virtual-device.ts";
import { durationSeconds, type WaveAudio } from "./wave-file.ts";

const FAREWELL_MS = 3_000;

export interface SimulationOptions {
  readonly files: readonly string[];
  readonly codec: ChunkCodec;
  readonly chunkSeconds: number;
  readonly speed: number;
  readonly loss: number;
  /** Uses one WebSocket stream instead of uploads. */
  readonly stream?: boolean;
  readonly workspace?: string;
  readonly title?: string;
}

interface StartedSession {
  readonly id: string;
  readonly deviceId: string;
  readonly workspace: ChosenWorkspace;
  /** Duration of the whole audio. */
  readonly seconds: number;
}

export interface SimulationEvents {
  readonly signal: AbortSignal;
  readonly onStarted?: (session: StartedSession) => void;
  readonly onProgress?: (progress: StreamProgress) => void;
  readonly onRetry?: Attempts["onRetry"];
  /** Called when the right to record ended, before the rest is brought. */
  readonly onAccessEnded?: (reason: string) => void;
}

interface Simulation extends StreamProgress {
  readonly sessionId: string;
  readonly deviceId: string;
}

/**
 * Plays consecutive recordings as one session of a virtual device. The device is paired, unless a
 * stored one is available. The session is stopped in any case; after an abort with the chunks sent
 * so far.
 */
export async function simulateDevice(
  { user, shelf }: { user: UserSession; shelf: DeviceShelf },
  recordings: readonly WaveAudio[],
  options: SimulationOptions,
  { signal, onStarted, onProgress, onRetry, onAccessEnded }: SimulationEvents,
): Promise<Simulation> {
  const title = options.title ?? options.files.map((file) => basename(file)).join(", ");
  const workspace = await chooseWorkspace(user, options.workspace);
  const wanted = { workspaceId: workspace.id, title: title.slice(0, 200) };
  const recording = await startRecording({ user, shelf, onRetry }, wanted);
  const { device, sessionId: id, isKept } = recording;
  const seconds = recordings.reduce((sum, audio) => sum + durationSeconds(audio), 0);
  onStarted?.({ id, deviceId: device.id, workspace, seconds });
  let progress: StreamProgress = { chunks: 0, seconds: 0, lost: 0 };
  const keep = (next: StreamProgress) => {
    progress = next;
    onProgress?.(next);
  };
  const last = () => (options.stream ? undefined : progress.chunks - 1);
  const stop = (limit?: AbortSignal) => device.stopSession(id, last(), limit);
  try {
    await device.heartbeat({ battery_percent: 100, recording: true });
    const { speed, loss } = options;
    const pace = { speed, loss, signal, onProgress: keep, onAccessEnded };
    if (options.stream) await streamRecordings(device, id, recordings, pace);
    else {
      const chunks = cutIntoChunks(recordings, options.chunkSeconds, options.codec);
      await streamChunks(device, id, chunks, pace);
    }
    await stop();
  } catch (error) {
    // The first failure is thrown; an interrupted user should not wait for long.
    await stop(AbortSignal.timeout(FAREWELL_MS)).catch(() => undefined);
    throw error;
  } finally {
    if (!isKept) await unpair(user, device.id).catch(() => undefined);
  }
  return { ...progress, sessionId: id, deviceId: device.id };
}
