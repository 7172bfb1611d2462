import workletUrl from "./capture-worklet.mjs?url";
import { chosenMicrophone } from "./microphone-choice.ts";

export interface Microphone {
  /** Samples a second, of one channel. */
  readonly sampleRate: number;
  close(): void;
}

interface Captured {
  readonly samples: ArrayBuffer;
  readonly loudest: number;
}

/** What recognisers work with; browsers that cannot change the rate give their own. */
const WANTED_RATE = 16_000;

/** Throws where browsers give no page the microphone. */
export function requireSecurePage(): void {
  if (isSecureContext && navigator.mediaDevices !== undefined) return;
  throw new Error(
    "Browsers give the microphone only to pages with https:// or of this machine itself (localhost). Open this page at such an address.",
  );
}

/** Asks the person to let the page use a microphone, and uses none. */
export async function letUseMicrophone(): Promise<void> {
  requireSecurePage();
  const stream = await askForStream();
  for (const track of stream.getTracks()) track.stop();
}

/** Opens the chosen microphone; `onSound` gets 16-bit samples and the loudest of them, 0 to 1. */
export async function openMicrophone(
  onSound: (samples: ArrayBuffer, loudest: number) => void,
  onLost: () => void,
): Promise<Microphone> {
  const stream = await askForStream();
  const context = await contextFor(stream);
  try {
    await context.context.audioWorklet.addModule(new URL(workletUrl, import.meta.url).href);
    const capture = new AudioWorkletNode(context.context, "capture", {
      numberOfOutputs: 0,
      channelCount: 1,
      channelCountMode: "explicit",
    });
    capture.port.onmessage = ({ data }: MessageEvent<Captured>) =>
      onSound(data.samples, data.loudest);
    context.source.connect(capture);
    await context.context.resume();
  } catch (error) {
    closeAll(stream, context.context);
    throw error;
  }
  for (const track of stream.getAudioTracks()) track.onended = onLost;
  return {
    sampleRate: context.context.sampleRate,
    close: () => closeAll(stream, context.context),
  };
}

function closeAll(stream: MediaStream, context: AudioContext): void {
  for (const track of stream.getTracks()) {
    track.onended = null;
    track.stop();
  }
  void context.close().catch(() => undefined);
}

/** Firefox takes a stream only at its own rate. */
async function contextFor(stream: MediaStream) {
  const wanted = new AudioContext({ sampleRate: WANTED_RATE });
  try {
    return { context: wanted, source: wanted.createMediaStreamSource(stream) };
  } catch {
    void wanted.close();
    const own = new AudioContext();
    return { context: own, source: own.createMediaStreamSource(stream) };
  }
}

/** Not every browser has it as a DOMException. */
function isUnfit(error: unknown): error is { name: string } {
  return typeof OverconstrainedError !== "undefined" && error instanceof OverconstrainedError;
}

const REFUSALS: Readonly<Record<string, string>> = {
  NotAllowedError:
    "The browser does not let this page use the microphone. Allow it, mostly with the sign beside the address, and try again.",
  NotFoundError: "No microphone was found. Connect one and try again.",
  NotReadableError: "The microphone does not answer; another program may be using it.",
};

async function askForStream(wanted = chosenMicrophone.peek()): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: {
        ...{ channelCount: 1, echoCancellation: true, noiseSuppression: true },
        ...(wanted === "" ? {} : { deviceId: { exact: wanted } }),
      },
    });
  } catch (error) {
    const name = error instanceof DOMException || isUnfit(error) ? error.name : "";
    // The chosen one is not connected: what the browser takes by itself is better than none.
    if (wanted !== "" && (name === "OverconstrainedError" || name === "NotFoundError")) {
      return askForStream("");
    }
    throw new Error(REFUSALS[name] ?? `The microphone could not be opened (${name || error}).`);
  }
}
