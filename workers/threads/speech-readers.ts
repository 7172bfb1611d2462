import { AppError } from "../../src/base/errors.ts";
import { POCKETSPHINX } from "../../src/wire/speech-engines.ts";
import { createSpeakerTracker } from "../speakers/session-tracker.ts";
import { loadNativeLibrary, NativeLibraryError } from "../speech/pocketsphinx/native-library.ts";
import { PocketsphinxRecogniser } from "../speech/pocketsphinx/pocketsphinx-recogniser.ts";
import type { ReaderFactory, ReaderSettings } from "../speech/reader.ts";
import { RecogniserPool } from "../speech/recogniser-pool.ts";
import { SessionReader } from "../speech/session-reader.ts";

/**
 * How long Open waits for a recogniser that another session of the thread returns, milliseconds.
 */
const WAIT_MS = 5_000;

/**
 * Creates the readers of one thread. Rejects with `unavailable` when the engine is not installed.
 */
export async function createSpeechReaders(settings: ReaderSettings): Promise<ReaderFactory> {
  const library = load(settings.nativeRoot);
  const { sessions } = settings;
  const recognisers = new RecogniserPool(() => PocketsphinxRecogniser.load(library), {
    size: sessions,
    waitMs: WAIT_MS,
    waiters: sessions,
    onShrunk: () => library.giveBackMemory(),
  });
  // The first recogniser is created before the thread is ready, so that problems show at the start.
  await recognisers.start();
  const deps = { recognisers, engine: POCKETSPHINX, createTracker: createSpeakerTracker };
  return {
    engines: [POCKETSPHINX],
    open: (open) => SessionReader.open(open, deps),
    close: () => recognisers.close(),
  };
}

function load(nativeRoot: string | undefined): ReturnType<typeof loadNativeLibrary> {
  try {
    return loadNativeLibrary(nativeRoot);
  } catch (error) {
    if (error instanceof NativeLibraryError) throw new AppError("unavailable", error.message);
    throw error;
  }
}
