import { once } from "node:events";
import { Worker } from "node:worker_threads";
import koffi from "koffi";
import { expect, it } from "vitest";
import { loadNativeLibrary } from "../../workers/speech/pocketsphinx/native-library.ts";
import { PocketsphinxRecogniser } from "../../workers/speech/pocketsphinx/pocketsphinx-recogniser.ts";
import { findSpeechRoot } from "../support/native-packages.ts";

it("recogniser: making one leaves the log file of the whole process alone", async () => {
  const native = loadNativeLibrary(findSpeechRoot());
  const base = koffi.load("libsphinxbase.so.3", { global: true });
  const logFile = base.func("err_get_logfp", "void *", []);
  const address = () => String(koffi.address(logFile()));
  // The library closes the file that it replaces: of two threads both would close the same one.
  const before = address();
  const recogniser = await PocketsphinxRecogniser.load(native);
  recogniser.close();
  expect(address()).toBe(before);
});

it("recogniser: a thread that ends while it loads some takes nobody along", async () => {
  for (let round = 0; round < 2; round += 1) {
    const entry = new URL("../support/loading-thread-entry.ts", import.meta.url);
    const thread = new Worker(entry, { execArgv: [] });
    await once(thread, "message");
    await thread.terminate();
  }
  const recogniser = await PocketsphinxRecogniser.load(loadNativeLibrary(findSpeechRoot()));
  recogniser.start(0);
  recogniser.feed(new Int16Array(1_600));
  expect(recogniser.finish()).toEqual([]);
  recogniser.close();
}, 60_000);
