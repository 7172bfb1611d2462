import { signal } from "@preact/signals";
import { account } from "../../api/account.ts";
import { messageOf } from "../../api/client.ts";
import { browserDevice, forgetKeys } from "./browser-device.ts";
import { type Microphone, openMicrophone, requireSecurePage } from "./microphone.ts";
import { chooseMicrophone } from "./microphone-choice.ts";
import { beginSession, endSession, storeUnsent } from "./recorded-session.ts";
import { SavedAudio, type SavedRecording } from "./saved-audio.ts";
import { SoundKeeper } from "./sound-keeper.ts";
import { SoundStream, StreamRefused } from "./sound-stream.ts";

type RecorderState =
  | { readonly kind: "idle"; readonly error: string; readonly ended?: string | undefined }
  | { readonly kind: "starting" }
  | { readonly kind: "recording"; readonly sessionId: string }
  | { readonly kind: "finishing"; readonly sessionId: string };

/** The one recording of this page; it goes on while one looks at other views. */
export const recorder = signal<RecorderState>({ kind: "idle", error: "" });
/** The loudest of the last tenth of a second, 0 to 1. */
export const level = signal(0);
/** Seconds of sound that were recorded. */
export const recordedSeconds = signal(0);
/** True while nothing is recorded although the recording goes on. */
export const isPaused = signal(false);
/** What the person should know of the running recording; "" for nothing. */
export const notice = signal("");
/** False while the connection is broken; the sound waits here meanwhile. */
export const isConnected = signal(true);

const BYTES_PER_SAMPLE = 2;
const LOCK = "voice-recording";

/** What is recorded, and where it is kept. */
interface Wanted {
  readonly workspaceId: string;
  /** "" for none, as below. */
  readonly title: string;
  readonly workshopId: string;
  /** BCP 47 tag, or `auto`. */
  readonly language: string;
}

let running: Recording | undefined;

/** Opens the microphone, begins a session, and streams into it until `stopRecording`. */
export function startRecording(wanted: Wanted): Promise<void> {
  return alone(async (userId, email) => {
    const microphone = await Input.open();
    try {
      const device = await browserDevice(userId, wanted.workspaceId);
      const sessionId = await beginSession(device, wanted);
      const { workspaceId, title, language } = wanted;
      const [now, { sampleRate }] = [Date.now(), microphone];
      const about = { sessionId, userId, email, workspaceId, title, language, sampleRate };
      const recording = { ...about, startedAt: now, keptAt: now };
      const kept = await SavedAudio.open();
      await kept?.begin(recording).catch(() => undefined);
      await record({ recording, kept, microphone, isCutOff: false });
    } finally {
      microphone.close();
    }
  });
}

/**
 * Takes up a recording that was cut off: sends what the service does not have, and either goes on
 * recording into the same session or ends it.
 */
export function takeUpRecording(
  recording: SavedRecording,
  how: "record" | "finish",
): Promise<void> {
  return alone(async (userId) => {
    if (recording.userId !== userId) throw new Error("This recording is somebody else's.");
    const kept = await SavedAudio.open();
    const microphone = how === "finish" ? undefined : await Input.open();
    try {
      const isSame = microphone === undefined || microphone.sampleRate === recording.sampleRate;
      if (!isSame) throw new Error(OTHER_RATE);
      await record({ recording, kept, microphone, isCutOff: true });
    } finally {
      microphone?.close();
    }
  });
}

const OTHER_RATE =
  "This microphone works with another sample rate than the recording. Finish the recording, and begin a new one.";

/** Ends the recording; what is not stored yet follows. */
export function stopRecording(): void {
  running?.finish();
}

/** Records nothing until it is called again; the session stays open. */
export function pauseRecording(): void {
  void running?.pause(!isPaused.value);
}

/** Records with this microphone from now on; "" is what the browser takes by itself. */
export function changeMicrophone(id: string): void {
  chooseMicrophone(id);
  void running?.changeMicrophone();
}

/** Runs the work while no other tab of this browser records, and tells what came of it. */
async function alone(work: (userId: string, email: string) => Promise<void>): Promise<void> {
  const who = account.value;
  if (recorder.value.kind !== "idle" || who?.kind !== "user") return;
  recorder.value = { kind: "starting" };
  let [error, ended]: [string, string | undefined] = ["", undefined];
  try {
    requireSecurePage();
    // The browser is one device, which records one session: other tabs wait their turn.
    await navigator.locks.request(LOCK, { ifAvailable: true }, async (lock) => {
      if (lock === null) throw new Error("Another tab of this browser is recording.");
      await work(who.id, who.email);
      ended = running?.sessionId;
    });
  } catch (cause) {
    forgetKeys();
    error = messageOf(cause);
  } finally {
    running = undefined;
    recorder.value = { kind: "idle", error, ended };
    level.value = 0;
    isConnected.value = true;
    isPaused.value = false;
    notice.value = "";
  }
}

/** The recordings of this browser that nobody records or sends at the moment. */
export async function cutRecordings(): Promise<SavedRecording[]> {
  if (navigator.locks === undefined) return [];
  const { held = [] } = await navigator.locks.query();
  if (held.some(({ name }) => name === LOCK)) return [];
  return (await (await SavedAudio.open())?.list()) ?? [];
}

/** Removes a recording with its sound from this browser; what is stored stays stored. */
export async function discardRecording({ sessionId }: SavedRecording): Promise<void> {
  await (await SavedAudio.open())?.remove(sessionId);
}

/** The microphone, whose sound goes where it is wanted, and waits before. */
class Input {
  #microphone: Microphone | undefined;
  #take: ((samples: ArrayBuffer) => void) | undefined;
  #early: ArrayBuffer[] = [];
  /** Which of those that were opened is heard. */
  #heard: symbol | undefined;
  onLost: () => void = () => undefined;

  static async open(): Promise<Input> {
    const input = new Input();
    await input.reopen();
    return input;
  }

  get sampleRate(): number {
    return this.#microphone?.sampleRate ?? 0;
  }

  async reopen(): Promise<void> {
    this.close();
    [this.#microphone, this.#heard] = await this.#open();
  }

  /** Goes over to the microphone that is chosen now, without a gap. */
  async change(): Promise<void> {
    const before = this.#microphone;
    const [next, heard] = await this.#open();
    if (before !== undefined && next.sampleRate !== before.sampleRate) {
      next.close();
      throw new Error(OTHER_RATE);
    }
    [this.#microphone, this.#heard] = [next, heard];
    before?.close();
  }

  async #open(): Promise<[Microphone, symbol]> {
    const mine = Symbol("microphone");
    const opened = await openMicrophone(
      (samples, loudest) => {
        // Another one is heard before, or by now.
        if (mine !== this.#heard) return;
        level.value = isPaused.value ? 0 : loudest;
        if (isPaused.value) return;
        if (this.#take === undefined) this.#early.push(samples);
        else this.#take(samples);
      },
      () => {
        if (mine === this.#heard) this.onLost();
      },
    );
    return [opened, mine];
  }

  /** From now on its sound goes there, that of before first. */
  flowTo(take: (samples: ArrayBuffer) => void): void {
    for (const samples of this.#early.splice(0)) take(samples);
    this.#take = take;
  }

  close(): void {
    this.#microphone?.close();
    this.#microphone = undefined;
    level.value = 0;
  }
}

interface RecordingParts {
  readonly recording: SavedRecording;
  /** Absent where the browser keeps nothing. */
  readonly kept: SavedAudio | undefined;
  /** Absent when what is left is only sent. */
  readonly microphone: Input | undefined;
  readonly isCutOff: boolean;
}

/** Resolves when all sound is stored and the session has ended. */
async function record(parts: RecordingParts): Promise<void> {
  const { recording, kept, microphone, isCutOff } = parts;
  const { sessionId, userId, workspaceId, sampleRate } = recording;
  const device = await browserDevice(userId, workspaceId);
  const rest = isCutOff ? await kept?.rest(sessionId) : undefined;
  recordedSeconds.value = (rest?.from ?? 0) / (sampleRate * BYTES_PER_SAMPLE);
  let keeper: SoundKeeper | undefined;
  const stream = new SoundStream({
    ...{ deviceId: device.id, key: device.key, sessionId, sampleRate, rest },
    onStored: (offset) => keeper?.forget(offset),
    onLink: (isThere) => {
      isConnected.value = isThere;
    },
  });
  const current = new Recording(sessionId, stream, microphone);
  running = current;
  const flow = (from: number) => {
    const lost = () => {
      notice.value = "This browser has no room to keep the sound: do not close the page.";
    };
    keeper = kept && new SoundKeeper(kept, sessionId, from, lost);
    recordedSeconds.value = from / (sampleRate * BYTES_PER_SAMPLE);
    microphone?.flowTo((samples) => {
      recordedSeconds.value += samples.byteLength / (sampleRate * BYTES_PER_SAMPLE);
      stream.push(samples);
      keeper?.push(new Uint8Array(samples));
    });
  };
  if (isCutOff) void stream.begun.then(flow);
  else flow(0);
  if (microphone === undefined) current.finish();
  try {
    await current.run(() => keeper?.flush());
  } catch (error) {
    if (!(error instanceof StreamRefused) || error.code !== "session_ended") throw error;
    // Somebody ended it, or it was silent for too long: what it does not take is a session of its own.
    keeper?.flush();
    await storeUnsent(recording, (await kept?.rest(sessionId)) ?? stream.rest);
  }
  await keeper?.remove();
  await kept?.remove(sessionId);
  await endSession(device, sessionId).catch(() => undefined);
}

/** A recording that is under way. */
class Recording {
  readonly sessionId: string;
  readonly #stream: SoundStream;
  readonly #microphone: Input | undefined;

  constructor(sessionId: string, stream: SoundStream, microphone: Input | undefined) {
    this.sessionId = sessionId;
    this.#stream = stream;
    this.#microphone = microphone;
    if (microphone === undefined) return;
    microphone.onLost = () => {
      isPaused.value = true;
      notice.value = "The microphone is gone. Connect it and go on, or finish.";
    };
  }

  /** @param flush writes what is not kept in the browser yet */
  async run(flush: () => void): Promise<void> {
    const { sessionId } = this;
    recorder.value = { kind: "recording", sessionId };
    const stop = new AbortController();
    const { signal: ended } = stop;
    addEventListener("beforeunload", (event) => event.preventDefault(), { signal: ended });
    addEventListener("pagehide", flush, { signal: ended });
    addEventListener("visibilitychange", flush, { signal: ended });
    keepScreenAwake(ended);
    try {
      await this.#stream.run();
    } finally {
      stop.abort();
    }
  }

  finish(): void {
    this.#microphone?.close();
    recorder.value = { kind: "finishing", sessionId: this.sessionId };
    this.#stream.end();
  }

  async changeMicrophone(): Promise<void> {
    try {
      await this.#microphone?.change();
      if (notice.value !== "") isPaused.value = false;
      notice.value = "";
    } catch (error) {
      notice.value = messageOf(error);
    }
  }

  async pause(isWanted: boolean): Promise<void> {
    if (isWanted || notice.value === "") {
      isPaused.value = isWanted;
      return;
    }
    // It was lost: another one takes its place.
    try {
      await this.#microphone?.reopen();
      notice.value = "";
      isPaused.value = false;
    } catch (error) {
      notice.value = messageOf(error);
    }
  }
}

/**
 * Keeps the screen from going dark, which ends recordings on phones, until the signal says that it is
 * over. Browsers let go of it when the page is hidden; it is asked for again when it is seen.
 */
function keepScreenAwake(ended: AbortSignal): void {
  let lock: WakeLockSentinel | undefined;
  const take = async () => {
    if (document.visibilityState !== "visible") return;
    try {
      lock = await navigator.wakeLock?.request("screen");
      if (ended.aborted) await lock?.release();
    } catch {
      // Refused, by a low battery say: the person keeps it awake.
    }
  };
  document.addEventListener("visibilitychange", () => void take(), { signal: ended });
  ended.addEventListener("abort", () => void lock?.release().catch(() => undefined));
  void take();
}
