import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { errorMessage } from "../../src/base/errors.ts";
import { FeatureBlocks } from "./feature-blocks.ts";
import { decodeGreedily } from "./greedy-decoding.ts";
import { wordsOf } from "./heard-words.ts";
import { InferenceJobs, type Steps } from "./inference-jobs.ts";
import type {
  InferenceCall,
  InferenceEvent,
  RecognitionRequest,
  VoiceRequest,
} from "./inference-protocol.ts";
import type { InferenceThreadData } from "./inference-thread.ts";
import { MoonshineNetwork } from "./moonshine-network.ts";
import { findProvider, runOptions } from "./network-provider.ts";
import { rescorePhrases } from "./phrase-rescoring.ts";
import { Tokenizer } from "./tokenizer.ts";
import { SEGMENTATION, VoiceNetworks } from "./voice-networks.ts";
import { WantedPhrases } from "./wanted-phrases.ts";

const READER_FOLDER = fileURLToPath(new URL("../models/moonshine-tiny-en", import.meta.url));
const VOICES_FOLDER = fileURLToPath(new URL("../models/voices", import.meta.url));
const FULL_SCALE = 32_768;
/** Vocabularies that are kept as tokens. */
const KEPT_VOCABULARIES = 32;

const port = parentPort;
if (port === null) throw new Error("This file runs as a worker thread only.");
const emit = (event: InferenceEvent): void => port.postMessage(event);

const { reads, networks: wanted } = workerData as InferenceThreadData;
const provided = once(() => findProvider(wanted.providers, join(VOICES_FOLDER, SEGMENTATION)));
const recogniser = once(async () => {
  const options = runOptions((await provided()).provider, wanted.wordThreads);
  return {
    network: await MoonshineNetwork.load(READER_FOLDER, options),
    tokenizer: Tokenizer.load(join(READER_FOLDER, "tokenizer.bin")),
  };
});
const voiceNetworks = once(async () => {
  const options = runOptions((await provided()).provider, wanted.voiceThreads);
  return VoiceNetworks.load(VOICES_FOLDER, options);
});

function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load();
    return loaded;
  };
}

const vocabularies = new Map<string, WantedPhrases>();

function phrasesOf(phrases: readonly string[], tokenizer: Tokenizer): WantedPhrases | undefined {
  if (phrases.length === 0) return undefined;
  const key = JSON.stringify(phrases);
  const wanted = vocabularies.get(key) ?? new WantedPhrases(phrases, tokenizer);
  // The newest one goes last, so that the first one is the longest unused.
  vocabularies.delete(key);
  vocabularies.set(key, wanted);
  const [oldest] = vocabularies.keys();
  if (vocabularies.size > KEPT_VOCABULARIES && oldest !== undefined) vocabularies.delete(oldest);
  return wanted;
}

async function* readingOf(request: RecognitionRequest): Steps {
  const { pcm, features, agreed, draft, phrases } = request;
  const { network, tokenizer } = await recogniser();
  const sound = Float32Array.from(pcm, (sample) => sample / FULL_SCALE);
  const encoded = await network.encode(sound, features && new FeatureBlocks(features));
  yield;
  const text = { encoded, samples: sound.length, agreed, draft };
  const greedy = yield* decodeGreedily(network, text);
  // Of what the network wrote by itself: a phrase that was put in says nothing of the sound.
  const logs = greedy.probabilities.reduce((sum, probability) => sum + Math.log(probability), 0);
  const certainty = logs === 0 ? 1 : Math.exp(logs / greedy.probabilities.length);
  const found = phrasesOf(phrases, tokenizer);
  const rescored = { encoded, decoding: greedy, tokenizer };
  const decoding = found ? yield* rescorePhrases(network, { ...rescored, phrases: found }) : greedy;
  const { tokens, isEndless } = decoding;
  return { words: wordsOf(decoding, tokenizer), tokens, certainty, isEndless, workMs: 0 };
}

// biome-ignore lint/correctness/useYield: it is one step
async function* hearingOf({ kind, pcm }: VoiceRequest): Steps {
  const networks = await voiceNetworks();
  const numbers = await (kind === "embed" ? networks.embed(pcm) : networks.segment(pcm));
  return { numbers, workMs: 0 };
}

try {
  await Promise.all([voiceNetworks(), ...(reads ? [recogniser()] : [])]);
  const jobs = new InferenceJobs({
    begin: (request) => (request.kind === "read" ? readingOf(request) : hearingOf(request)),
    onDone: (id, answer) => emit({ kind: "done", id, answer }),
    onFailed: (id, error) => emit({ kind: "failed", id, reason: errorMessage(error) }),
  });
  port.on("message", (call: InferenceCall) => {
    if (call.kind === "run") jobs.add(call.id, call.request, call.share);
    else jobs.drop(call.id);
  });
  emit({ kind: "ready", networks: await provided() });
} catch (error) {
  emit({ kind: "broken", reason: errorMessage(error) });
}
