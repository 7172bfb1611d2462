import { loadDecoders } from "../../src/base/codecs/sound-reader.ts";
import { AppError, errorMessage } from "../../src/base/errors.ts";
import type { Open } from "../../src/wire/gen/voice/v1/worker.ts";
import type { SpeechEngine } from "../../src/wire/speech-engines.ts";
import type { MissingEngine } from "../../src/wire/worker-announcement.ts";
import { speakerBackground } from "../speakers/background.ts";
import { createSpeakerTracker } from "../speakers/session-tracker.ts";
import { SherpaEmbedder } from "../speakers/sherpa-embedder.ts";
import { DEFAULT_ENGINES, type EngineSettings, nameOfEngine } from "../speech/engine-settings.ts";
import type { ReaderFactory, ReaderSettings } from "../speech/reader.ts";
import { RecogniserPool } from "../speech/recogniser-pool.ts";
import { SessionReader } from "../speech/session-reader.ts";
import { openEngine } from "./speech-engines.ts";

/**
 * How long Open waits for a recogniser that another session of the thread returns, milliseconds.
 */
const WAIT_MS = 5_000;

interface ReadyEngine {
  engine: SpeechEngine;
  recognisers: RecogniserPool;
}

/**
 * Creates the readers of one thread. An engine that cannot be used is told of as missing; rejects
 * with `unavailable` when none can be used.
 */
export async function createSpeechReaders(settings: ReaderSettings): Promise<ReaderFactory> {
  const ready = new Map<string, ReadyEngine>();
  const missing: MissingEngine[] = [];
  for (const each of settings.engines ?? DEFAULT_ENGINES) {
    try {
      const opened = await start(each, settings);
      ready.set(opened.engine.name, opened);
    } catch (error) {
      missing.push({ name: nameOfEngine(each), reason: errorMessage(error) });
    }
  }
  const [first] = ready.values();
  if (first === undefined) {
    throw new AppError("unavailable", missing.map(({ reason }) => reason).join(" "));
  }
  await loadDecoders();
  // Made now, so that the first words of the first session do not wait for it.
  speakerBackground();
  const { speakerModel } = settings;
  const embedder = speakerModel && (await SherpaEmbedder.load(speakerModel));
  return {
    engines: [...ready.values()].map(({ engine }) => engine),
    missing,
    open: async (open) => {
      const { engine, recognisers } = readyFor(open, ready, first);
      return SessionReader.open(open, {
        ...{ engine, recognisers },
        createTracker: (checkpoint) => createSpeakerTracker(checkpoint, embedder),
      });
    },
    close: async () => {
      embedder?.close();
      await Promise.all([...ready.values()].map(({ recognisers }) => recognisers.close()));
    },
  };
}

/** Opens the engine and makes its first recogniser, so that problems show at the start. */
async function start(
  engine: EngineSettings,
  { nativeRoot, sessions }: ReaderSettings,
): Promise<ReadyEngine> {
  const opened = openEngine(engine, { nativeRoot });
  const recognisers = new RecogniserPool(() => opened.create(), {
    size: sessions,
    waitMs: WAIT_MS,
    waiters: sessions,
    onShrunk: () => opened.onShrunk?.(),
  });
  await recognisers.start();
  return { engine: opened.engine, recognisers };
}

function readyFor(
  { engine: name }: Open,
  ready: ReadonlyMap<string, ReadyEngine>,
  first: ReadyEngine,
): ReadyEngine {
  const found = name === undefined ? first : ready.get(name);
  if (found !== undefined) return found;
  throw new AppError("engine_unavailable", `This worker has no engine "${name}".`);
}
