import workletUrl from "./capture-worklet.mjs?url";

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

/** Opens the microphone; `onSound` gets 16-bit samples and the loudest of them, 0 to 1. */
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

const REFUSALS: Readonly<Record<string, string>> = {
  NotAllowedError:
    "The browser does not let this page use the microphone. Allow it, mostly with the sign beside the address, and try again.",
  NotFoundError: "No microphone was found. Connect one and try again.",
  NotReadableError: "The microphone does not answer; another program may be using it.",
};

async function askForStream(): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true },
    });
  } catch (error) {
    const name = error instanceof DOMException ? error.name : "";
    throw new Error(REFUSALS[name] ?? `The microphone could not be opened (${name || error}).`);
  }
}
