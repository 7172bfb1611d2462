/** Begins to load decoders, says so, and would wait for them for ever. */
import { parentPort } from "node:worker_threads";
import { loadNativeLibrary } from "../../workers/speech/pocketsphinx/native-library.ts";
import { PocketsphinxRecogniser } from "../../workers/speech/pocketsphinx/pocketsphinx-recogniser.ts";
import { findSpeechRoot } from "./native-packages.ts";

const native = loadNativeLibrary(findSpeechRoot());
const loading = [PocketsphinxRecogniser.load(native), PocketsphinxRecogniser.load(native)];
parentPort?.postMessage("loading");
await Promise.all(loading);
setInterval(() => {}, 1_000);
