import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { chooseWorkspace } from "../../src/cli/client/flags.ts";
import { logIn, UserSession } from "../../src/cli/client/user-session.ts";
import {
  type AudioChunk,
  type ChunkCodec,
  cutIntoChunks,
} from "../../src/cli/device/audio-chunks.ts";
import { VirtualDevice } from "../../src/cli/device/virtual-device.ts";
import { frameBytes, readWave, type WaveAudio } from "../../src/cli/device/wave-file.ts";
import { ApiClient } from "../../src/client/api-client.ts";
import type { BackOff } from "../../src/client/back-off.ts";
import { ApiError, ChannelError, reasonOf } from "../../src/client/errors.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { sendLate } from "./late-sending.ts";
import { act } from "./people.ts";
import { Follower, type Recording } from "./recording.ts";
import { type Deck, nameOf, type Story } from "./stories.ts";

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
const PLAIN: Story = { delivery: "prompt", order: "in order" };
const NO_CHANCE = new SeededRandom(0);

/** Five devices that record the same conversation, and for each session four who watch. */
export class Crew {
  readonly user: UserSession;
  readonly #workspaceId: string;
  readonly #devices: readonly VirtualDevice[];
  readonly #audio: WaveAudio;
  readonly recordings: Recording[] = [];
  /** Calls that were repeated because something was in the way. */
  retries = 0;
  /** Devices that gave up, and why. */
  readonly failures: string[] = [];

  private constructor(
    user: UserSession,
    workspaceId: string,
    devices: readonly VirtualDevice[],
    audio: WaveAudio,
  ) {
    this.user = user;
    this.#workspaceId = workspaceId;
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
    crew = new Crew(user, workspaceId, devices, firstSeconds(readWave(CONVERSATION), audioSeconds));
    return crew;
  }

  /** Everything that happens in the workspace from now on is told there. */
  async addHook(url: string): Promise<void> {
    const params = { path: { id: this.#workspaceId } };
    await this.user.call((client) =>
      client.POST("/workspaces/{id}/webhooks", { params, body: { url, description: "Chaos" } }),
    );
  }

  /** One session of every device; resolves when all are stopped. */
  async recordOnce(speed: number): Promise<Recording[]> {
    return Promise.all([...LANES.keys()].map((lane) => this.#record(lane, speed)));
  }

  /**
   * Every device records session after session, each followed by `look` at it, until the signal
   * fires and the deck is empty; so five sessions and twenty viewers are there at any time. Every
   * other session tells a story of the deck, the rest only what the faults do.
   */
  async recordUntil(
    signal: AbortSignal,
    speed: number,
    { deck, random }: { deck: Deck; random: SeededRandom },
    look: (recording: Recording) => Promise<void>,
  ): Promise<void> {
    const work = async (lane: number): Promise<void> => {
      try {
        for (let n = lane; ; n += 1) {
          const isTold = n % 2 === 0 || signal.aborted;
          const story = isTold ? deck.deal(LANES[lane]?.streams === true) : undefined;
          if (signal.aborted && story === undefined && n > lane) return;
          await look(await this.#record(lane, speed, { story, random }));
        }
      } catch (error) {
        this.failures.push(`device ${lane} gave up: ${reasonOf(error)}`);
      }
    };
    await Promise.all([...LANES.keys()].map(work));
  }

  async #record(
    lane: number,
    speed: number,
    watched?: { story: Story | undefined; random: SeededRandom },
  ): Promise<Recording> {
    const device = this.#devices[lane] as VirtualDevice;
    const { seconds, codec, streams = false } = LANES[lane] as Lane;
    const chunks: AudioChunk[] = [...cutIntoChunks([this.#audio], seconds, codec)];
    const canary = `q${randomBytes(8).toString("hex")}`;
    const startedAt = performance.now();
    const sessionId = await device.startSession({ title: canary });
    const followers = Array.from(
      { length: watched === undefined ? 0 : FOLLOWERS_PER_SESSION },
      (_, n) => new Follower(this.user, sessionId, n % 2 === 0),
    );
    const story = watched?.story;
    const recording: Recording = {
      ...{ sessionId, lane, streams, chunks, followers, startedAt, canary, story },
    };
    if (watched !== undefined) this.recordings.push(recording);
    const random = watched?.random;
    await Promise.all([
      this.#send(device, recording, speed, random).catch((error: unknown) => {
        // Nobody may go on recording what was deleted.
        if (story?.deed === "delete" && isRefusal(error)) return;
        throw error;
      }),
      ...(random === undefined ? [] : [this.#play(recording, random)]),
    ]);
    return recording;
  }

  async #send(
    device: VirtualDevice,
    { sessionId, chunks, story, streams }: Recording,
    speed: number,
    random: SeededRandom | undefined,
  ): Promise<void> {
    if (streams) {
      await this.#stream(device, sessionId, chunks, speed);
      await device.stopSession(sessionId, -1);
    } else {
      await sendLate(device, sessionId, chunks, story ?? PLAIN, speed, random ?? NO_CHANCE);
    }
  }

  /** The person's part of the story. */
  async #play(recording: Recording, random: SeededRandom): Promise<void> {
    const { story, sessionId, canary } = recording;
    if (story?.deed === undefined) return;
    const audioMs =
      (this.#audio.data.length / frameBytes(this.#audio) / this.#audio.sampleRate) * 1_000;
    const { user } = this;
    const feat = await act(story.deed, { user, sessionId, canary, audioMs, random });
    // Whether two voices are told apart in so short a talk is nothing that gets lost.
    if (feat === undefined && story.deed === "merge") return;
    if (feat === undefined) this.failures.push(`${sessionId}: nothing to do: ${nameOf(story)}`);
    else recording.feat = feat;
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

function isRefusal(error: unknown): boolean {
  if (error instanceof ApiError) return error.status < 500;
  return error instanceof ChannelError && !error.isRetryable;
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
