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
