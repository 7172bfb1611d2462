import { signal } from "@preact/signals";
import { account } from "../../api/account.ts";
import { ApiFailure, call, messageOf } from "../../api/client.ts";
import { type BrowserDevice, browserDevice, forgetKeys } from "./browser-device.ts";
import { type Microphone, openMicrophone, requireSecurePage } from "./microphone.ts";
import { SoundStream } from "./sound-stream.ts";

type RecorderState =
  | { readonly kind: "idle"; readonly told: string }
  | { readonly kind: "starting" }
  | { readonly kind: "recording"; readonly sessionId: string; readonly since: number }
  | { readonly kind: "finishing"; readonly sessionId: string };

/** The one recording of this page; it goes on while one looks at other views. */
export const recorder = signal<RecorderState>({ kind: "idle", told: "" });
/** The loudest of the last tenth of a second, 0 to 1. */
export const level = signal(0);
/** False while the connection is broken; the sound waits here meanwhile. */
export const isConnected = signal(true);

let finish: (() => void) | undefined;

/** What is recorded, and where it is kept. */
interface Wanted {
  readonly workspaceId: string;
  /** "" for none, as below. */
  readonly title: string;
  readonly workshopId: string;
}

/** Opens the microphone, begins a session, and streams into it until `stopRecording`. */
export async function startRecording(wanted: Wanted): Promise<void> {
  const who = account.value;
  if (recorder.value.kind !== "idle" || who?.kind !== "user") return;
  recorder.value = { kind: "starting" };
  let told = "";
  try {
    requireSecurePage();
    // The browser is one device, which records one session: other tabs wait their turn.
    await navigator.locks.request("voice-recording", { ifAvailable: true }, async (lock) => {
      if (lock === null) throw new Error("Another tab of this browser is recording.");
      await recordWith(who.id, wanted);
    });
  } catch (error) {
    forgetKeys();
    told = messageOf(error);
  } finally {
    recorder.value = { kind: "idle", told };
    level.value = 0;
    isConnected.value = true;
    finish = undefined;
  }
}

async function recordWith(userId: string, wanted: Wanted): Promise<void> {
  const early: ArrayBuffer[] = [];
  let take = (samples: ArrayBuffer) => {
    early.push(samples);
  };
  const microphone = await openMicrophone(
    (samples, loudest) => {
      level.value = loudest;
      take(samples);
    },
    () => finish?.(),
  );
  try {
    const device = await browserDevice(userId, wanted.workspaceId);
    const sessionId = await beginSession(device, wanted);
    const stream = new SoundStream({
      deviceId: device.id,
      key: device.key,
      sessionId,
      sampleRate: microphone.sampleRate,
      onLink: (isThere) => {
        isConnected.value = isThere;
      },
    });
    for (const samples of early) stream.push(samples);
    take = (samples) => stream.push(samples);
    await record(microphone, stream, device, sessionId);
  } finally {
    microphone.close();
  }
}

/** Ends the recording; what is not stored yet follows. */
export function stopRecording(): void {
  finish?.();
}

async function record(
  microphone: Microphone,
  stream: SoundStream,
  device: BrowserDevice,
  sessionId: string,
): Promise<void> {
  recorder.value = { kind: "recording", sessionId, since: Date.now() };
  finish = () => {
    microphone.close();
    level.value = 0;
    recorder.value = { kind: "finishing", sessionId };
    stream.end();
  };
  const warn = (event: BeforeUnloadEvent) => event.preventDefault();
  addEventListener("beforeunload", warn);
  try {
    await stream.run();
  } finally {
    removeEventListener("beforeunload", warn);
    await endSession(device, sessionId).catch(() => undefined);
  }
}

async function beginSession(device: BrowserDevice, { title, workshopId }: Wanted): Promise<string> {
  const params = { path: { device_id: device.id } };
  const headers = { "x-api-key": device.key };
  const body = {
    ...(title === "" ? {} : { title }),
    ...(workshopId === "" ? {} : { workshop_id: workshopId }),
  };
  const begin = () =>
    call((api) => api.POST("/devices/{device_id}/session/start", { params, headers, body }));
  try {
    return (await begin()).session_id;
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 409) throw error;
    // This browser's recording before was cut short, by a reload say: it ends first.
    await endSession(device, undefined);
    return (await begin()).session_id;
  }
}

async function endSession(device: BrowserDevice, sessionId: string | undefined): Promise<void> {
  const params = { path: { device_id: device.id } };
  const headers = { "x-api-key": device.key };
  const body = sessionId === undefined ? {} : { session_id: sessionId };
  await call((api) => api.POST("/devices/{device_id}/session/stop", { params, headers, body }));
}
