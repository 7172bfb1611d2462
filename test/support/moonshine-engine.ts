import { InferenceClient } from "../../workers/inference/inference-client.ts";
import { InferencePool } from "../../workers/inference/inference-pool.ts";
import { NetworkVoices } from "../../workers/speakers/network-voices.ts";
import { SessionTracker } from "../../workers/speakers/session-tracker.ts";
import type { SpeakerTracker } from "../../workers/speakers/speaker-tracker.ts";
import type { VoiceAnalysis } from "../../workers/speakers/voice-analysis.ts";
import type { OpenedEngine } from "../../workers/speech/opened-engine.ts";
import { openEngine } from "../../workers/threads/speech-engines.ts";

/** The service's own engine and voices, with inference threads of their own. */
export interface RunningEngine extends OpenedEngine {
  /** Asks the networks for words, without a recogniser. */
  read: InferenceClient["read"];
  voices(): VoiceAnalysis;
  createTracker(checkpoint?: Uint8Array): SpeakerTracker;
  close(): void;
}

export async function startMoonshine(threads = 1): Promise<RunningEngine> {
  const pool = new InferencePool({ threads });
  await pool.start();
  const client = new InferenceClient(pool.connect());
  const close = (): void => {
    client.close();
    pool.stop();
  };
  const voices = (): VoiceAnalysis => new NetworkVoices(client);
  const createTracker = (checkpoint?: Uint8Array): SpeakerTracker =>
    new SessionTracker(voices(), checkpoint);
  const engine = await openEngine({ kind: "moonshine-tiny-en" }, client);
  return { ...engine, read: client.read.bind(client), voices, createTracker, close };
}
