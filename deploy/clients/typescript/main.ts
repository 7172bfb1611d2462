/**
 * The client from a terminal, with Node 22.18 or newer, which runs TypeScript as it is:
 *
 *     export VOICE_URL=http://127.0.0.1:8080
 *     VOICE_KEY=...   node main.ts device --device ID recording.wav
 *     VOICE_TOKEN=... node main.ts view --session ID
 */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type Frame, Refused, streamAudio, viewSession } from "./voice-client.ts";

const HELP = `node main.ts device --device ID [--title TEXT] [--transcript] [--speed N] FILE.wav
node main.ts view --session ID [--from-seq N]
Environment: VOICE_URL (http://127.0.0.1:8080), VOICE_KEY of the device, VOICE_TOKEN of the viewer`;

const base = process.env.VOICE_URL ?? "http://127.0.0.1:8080";
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    device: { type: "string" },
    session: { type: "string" },
    title: { type: "string" },
    transcript: { type: "boolean", default: false },
    speed: { type: "string", default: "1" },
    "from-seq": { type: "string", default: "0" },
    help: { type: "boolean", default: false },
  },
});

function onRetry(reason: string, waitMs: number): void {
  console.error(`${reason}; trying again in ${(waitMs / 1000).toFixed(1)} s`);
}

function secret(name: string): string {
  // Not an argument: those of a process can be seen by everybody on the machine.
  const value = process.env[name] ?? "";
  if (value === "") throw new Refused(`the environment has no ${name}`);
  return value;
}

/** 16-bit PCM of a WAV file. */
async function readWav(path: string): Promise<{ rate: number; channels: number; pcm: Uint8Array }> {
  const file = await readFile(path).catch((error: Error) => {
    throw new Refused(`${path}: ${error.message}`);
  });
  let [rate, channels] = [0, 0];
  for (let at = 12; at + 8 <= file.length; ) {
    const [name, size] = [file.toString("latin1", at, at + 4), file.readUInt32LE(at + 4)];
    if (name === "fmt " && size >= 16 && file.readUInt16LE(at + 22) === 16) {
      [channels, rate] = [file.readUInt16LE(at + 10), file.readUInt32LE(at + 12)];
    }
    if (name === "data" && rate > 0) {
      return { rate, channels, pcm: file.subarray(at + 8, at + 8 + size) };
    }
    at += 8 + size + (size % 2);
  }
  throw new Refused(`${path}: only WAV of 16 bits`);
}

async function runDevice(deviceId: string, path: string): Promise<void> {
  const headers = { "x-api-key": secret("VOICE_KEY") };
  const { rate, channels, pcm } = await readWav(path);
  const { title, transcript, speed } = values;
  let at = 0;
  const { bytes } = await streamAudio(
    { base, headers, onRetry },
    {
      deviceId,
      configuration: {
        encoding: "pcm_s16le",
        sample_rate: rate,
        channels,
        ...(title === undefined ? {} : { title }),
        ...(transcript ? { transcript } : {}),
      },
      speed: Number(speed),
      read: async (size) => {
        const piece = pcm.subarray(at, at + size);
        at += piece.length;
        return piece;
      },
      onSession: (id) => console.error(`session ${id}`),
      onFrame: (frame) => {
        if (frame.type === "Results" && frame.is_final === true) console.log(lineOf(frame));
        if (frame.type === "Warning" || frame.type === "Error") {
          console.error(`${frame.type.toLowerCase()} ${frame.code}: ${frame.message}`);
        }
      },
    },
  );
  console.error(`sent ${bytes} bytes, all stored`);
}

async function runView(sessionId: string): Promise<void> {
  const headers = { authorization: `Bearer ${secret("VOICE_TOKEN")}` };
  const onFrame = (frame: Frame): void => {
    if (frame.type === "Results" && frame.is_final === true) {
      console.log(`${frame.seq} ${frame.segment_id} ${lineOf(frame)}`);
    }
  };
  const fromSeq = Number(values["from-seq"]);
  const status = await viewSession({ base, headers, onRetry }, { sessionId, fromSeq, onFrame });
  console.error(`session ${status}`);
}

function lineOf({ speaker, transcript }: Frame): string {
  return `${speaker ?? "UU"}: ${transcript}`;
}

const [command, file] = positionals;
const { device, session } = values;
try {
  if (values.help) console.log(HELP);
  else if (command === "device" && device && file && Number(values.speed) > 0)
    await runDevice(device, file);
  else if (command === "view" && session) await runView(session);
  else {
    console.error(HELP);
    process.exitCode = 2;
  }
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.error(`error: ${error.message}`);
  process.exitCode = 1;
}
