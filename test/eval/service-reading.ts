import { setTimeout as delay } from "node:timers/promises";
import { ApiClient, type JsonObject } from "../../src/cli/api-client.ts";
import { cutIntoChunks } from "../../src/cli/audio-chunks.ts";
import { streamChunks } from "../../src/cli/device-stream.ts";
import { objectsField, stringField } from "../../src/cli/json-field.ts";
import { baseUrlOf, logIn, UserSession } from "../../src/cli/user-session.ts";
import { VirtualDevice } from "../../src/cli/virtual-device.ts";
import { durationSeconds, type WaveAudio } from "../../src/cli/wave-file.ts";
import { chooseWorkspace } from "../../src/cli/workspace-choice.ts";
import type { TimedWord } from "./bare-engine.ts";
import type { SpokenTurn } from "./diarisation-score.ts";
import { normaliseWords } from "./normalise-words.ts";
import type { ServiceAddress } from "./running-service.ts";

/** What the service made of a recording. */
export interface ServiceReading {
  readonly session_id: string;
  readonly words: readonly string[];
  readonly timedWords: readonly TimedWord[];
  readonly turns: readonly SpokenTurn[];
  readonly speakers: readonly string[];
  /** From the first upload to the completed transcript. */
  readonly seconds: number;
}

const POLL_MS = 100;
const MOST_PAGES = 1_000;
const PATIENCE_S = 60;
const PATIENCE_PER_AUDIO_SECOND = 3;

/** A device of its own on a running service, for one session after another. */
export class ServiceReader {
  readonly #user: UserSession;
  readonly #device: VirtualDevice;

  private constructor(user: UserSession, device: VirtualDevice) {
    this.#user = user;
    this.#device = device;
  }

  static async connect({ base_url, admin }: ServiceAddress): Promise<ServiceReader> {
    const api = new ApiClient(baseUrlOf({ baseUrl: base_url }, {}));
    const login = await logIn(api, admin.email, admin.password);
    const user = new UserSession(api, login, () => undefined);
    const workspaceId = await chooseWorkspace(user);
    return new ServiceReader(user, await VirtualDevice.pair(user, { name: "Eval", workspaceId }));
  }

  /** Uploads a recording as fast as it goes, waits for its transcript and reads it. */
  async read(audio: WaveAudio, chunkSeconds: number): Promise<ServiceReading> {
    const start = performance.now();
    const id = await this.#device.startSession({ title: `Eval, chunks of ${chunkSeconds} s` });
    const { chunks } = await streamChunks(
      this.#device,
      id,
      cutIntoChunks([audio], chunkSeconds, "wav"),
      { speed: Number.POSITIVE_INFINITY, loss: 0, signal: new AbortController().signal },
    );
    await this.#device.stopSession(id, chunks - 1);
    await this.#completed(id, PATIENCE_S + PATIENCE_PER_AUDIO_SECOND * durationSeconds(audio));
    const seconds = (performance.now() - start) / 1000;
    const path = `/sessions/${id}/transcript?format=json`;
    const transcript = await this.#user.call({ method: "GET", path });
    const segments = objectsField(transcript, "segments");
    const turns = segments.map(turnOf);
    return {
      session_id: id,
      words: normaliseWords(segments.map((segment) => stringField(segment, "text")).join(" ")),
      timedWords: await this.#timedWords(id),
      turns,
      speakers: [...new Set(turns.map((turn) => turn.speaker))].filter((label) => label !== "UU"),
      seconds,
    };
  }

  async #timedWords(id: string): Promise<TimedWord[]> {
    const words: TimedWord[] = [];
    let cursor = "";
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const path = `/sessions/${id}/segments?words=true&limit=100${cursor}`;
      const page = await this.#user.call({ method: "GET", path });
      for (const segment of objectsField(page, "items")) {
        words.push(...objectsField(segment, "words").flatMap(timedWord));
      }
      if (typeof page.next_cursor !== "string") break;
      cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`;
    }
    return words;
  }

  async #completed(id: string, limitSeconds: number): Promise<void> {
    const deadline = performance.now() + limitSeconds * 1000;
    let status = "";
    while (performance.now() < deadline) {
      const session = await this.#user.call({ method: "GET", path: `/sessions/${id}` });
      status = stringField(session, "status");
      if (status === "completed") return;
      if (status === "failed") throw new Error(`session ${id} failed`);
      await delay(POLL_MS);
    }
    throw new Error(`session ${id} is still ${status} after ${Math.round(limitSeconds)} s`);
  }
}

function turnOf(segment: JsonObject): SpokenTurn {
  return {
    speaker: String(segment.speaker_label ?? "UU"),
    start: Number(segment.start_ms) / 1000,
    end: Number(segment.end_ms) / 1000,
  };
}

function timedWord({ word, start_ms, end_ms }: JsonObject): TimedWord[] {
  if (typeof word !== "string") return [];
  const times = { start: Number(start_ms) / 1000, end: Number(end_ms) / 1000 };
  return normaliseWords(word).map((name) => ({ word: name, ...times }));
}
