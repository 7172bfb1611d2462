import { resolve } from "node:path";
import { ApiClient } from "../../src/cli/api-client.ts";
import { type AudioChunk, type ChunkCodec, cutIntoChunks } from "../../src/cli/audio-chunks.ts";
import type { BackOff } from "../../src/cli/back-off.ts";
import { reasonOf } from "../../src/cli/command-failure.ts";
import { streamChunks } from "../../src/cli/device-stream.ts";
import { logIn, UserSession } from "../../src/cli/user-session.ts";
import { VirtualDevice } from "../../src/cli/virtual-device.ts";
import { frameBytes, readWave, type WaveAudio } from "../../src/cli/wave-file.ts";
import { chooseWorkspace } from "../../src/cli/workspace-choice.ts";
import { Follower, type Recording } from "./recording.ts";

const CONVERSATION = resolve(import.meta.dirname, "../../deploy/demo/conversation.wav");

interface Lane {
  /** Length of what is sent at once. */
  readonly seconds: number;
  readonly codec: ChunkCodec;
  /** Over one connection; the service cuts the chunks. */
  readonly streams?: boolean;
}

/** How each of the five devices sends its audio. */
export const LANES: readonly Lane[] = [
  { seconds: 0.5, codec: "pcm" },
  { seconds: 1.7, codec: "wav" },
  { seconds: 4, codec: "pcm" },
  { seconds: 0.1, codec: "pcm", streams: true },
  { seconds: 0.25, codec: "pcm", streams: true },
];
/** As a device that has nothing else to do: a killed process on a busy machine takes its time. */
const STUBBORN: BackOff = { attempts: 80, firstMs: 200, longestMs: 4_000 };
const FOLLOWERS_PER_SESSION = 4;

/** Five devices that record the same conversation, and for each session four who watch. */
export class Crew {
  readonly user: UserSession;
  readonly #devices: readonly VirtualDevice[];
  readonly #audio: WaveAudio;
  readonly recordings: Recording[] = [];
  /** Calls that were repeated because something was in the way. */
  retries = 0;
  /** Devices that gave up, and why. */
  readonly failures: string[] = [];

  private constructor(user: UserSession, devices: readonly VirtualDevice[], audio: WaveAudio) {
    this.user = user;
    this.#devices = devices;
    this.#audio = audio;
  }

  static async gather(api: string, admin: Admin, audioSeconds: number): Promise<Crew> {
    const user = await signIn(api, admin);
    const { id: workspaceId } = await chooseWorkspace(user);
    const devices: VirtualDevice[] = [];
    let crew: Crew | undefined;
    const onRetry = () => {
      if (crew !== undefined) crew.retries += 1;
    };
    for (const lane of LANES.keys()) {
      devices.push(await VirtualDevice.pair(user, { name: `Lane ${lane}`, workspaceId }, onRetry));
    }
    crew = new Crew(user, devices, firstSeconds(readWave(CONVERSATION), audioSeconds));
    return crew;
  }

  /** One session of every device; resolves when all are stopped. */
  async recordOnce(speed: number): Promise<Recording[]> {
    return Promise.all([...LANES.keys()].map((lane) => this.#record(lane, speed, false)));
  }

  /**
   * Every device records session after session, each followed by `look` at it, until the signal
   * fires; so five sessions and twenty viewers are there at any time.
   */
  async recordUntil(
    signal: AbortSignal,
    speed: number,
    look: (recording: Recording) => Promise<void>,
  ): Promise<void> {
    const work = async (lane: number): Promise<void> => {
      try {
        do await look(await this.#record(lane, speed, true));
        while (!signal.aborted);
      } catch (error) {
        this.failures.push(`device ${lane} gave up: ${reasonOf(error)}`);
      }
    };
    await Promise.all([...LANES.keys()].map(work));
  }

  async #record(lane: number, speed: number, isWatched: boolean): Promise<Recording> {
    const device = this.#devices[lane] as VirtualDevice;
    const { seconds, codec, streams = false } = LANES[lane] as Lane;
    const chunks: AudioChunk[] = [...cutIntoChunks([this.#audio], seconds, codec)];
    const sessionId = await device.startSession({ title: `Lane ${lane}` });
    const followers = Array.from(
      { length: isWatched ? FOLLOWERS_PER_SESSION : 0 },
      (_, n) => new Follower(this.user, sessionId, n % 2 === 0),
    );
    const recording: Recording = { sessionId, lane, streams, chunks, followers };
    if (isWatched) this.recordings.push(recording);
    if (streams) {
      await this.#stream(device, sessionId, chunks, speed);
      await device.stopSession(sessionId, -1);
    } else {
      const { signal } = new AbortController();
      await streamChunks(device, sessionId, chunks, { speed, loss: 0, signal });
      await device.stopSession(sessionId, chunks.length - 1);
    }
    return recording;
  }

  async #stream(
    device: VirtualDevice,
    sessionId: string,
    pieces: readonly AudioChunk[],
    speed: number,
  ): Promise<void> {
    const { signal } = new AbortController();
    const sender = device.stream(sessionId, this.#audio, { signal });
    const done = sender.run();
    // Its failure is told by the next push, or below.
    done.catch(() => undefined);
    const startedAt = performance.now();
    for (const { bytes, recordedAt } of pieces) {
      const wait = startedAt + (recordedAt * 1_000) / speed - performance.now();
      if (wait > 1) await new Promise((wake) => setTimeout(wake, wait));
      sender.push(bytes);
    }
    sender.end();
    await done;
  }
}

export interface Admin {
  email: string;
  password: string;
}

export async function signIn(api: string, { email, password }: Admin): Promise<UserSession> {
  const client = new ApiClient(api, STUBBORN);
  return new UserSession(client, await logIn(client, email, password), () => undefined);
}

function firstSeconds(audio: WaveAudio, seconds: number): WaveAudio {
  const bytes = Math.round(seconds * audio.sampleRate) * frameBytes(audio);
  return { ...audio, data: audio.data.subarray(0, bytes) };
}
