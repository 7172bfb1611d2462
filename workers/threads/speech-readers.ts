import { loadDecoders } from "../../src/base/codecs/sound-reader.ts";
import { AppError, errorMessage } from "../../src/base/errors.ts";
import type { Open } from "../../src/wire/gen/voice/v1/worker.ts";
import type { MissingEngine } from "../../src/wire/worker-announcement.ts";
import { NetworkVoices } from "../speakers/network-voices.ts";
import { SessionTracker } from "../speakers/session-tracker.ts";
import { DEFAULT_ENGINES, nameOfEngine } from "../speech/engine-settings.ts";
import type { OpenedEngine } from "../speech/opened-engine.ts";
import type { ReaderFactory, ReaderTools } from "../speech/reader.ts";
import { SessionReader } from "../speech/session-reader.ts";
import { openEngine } from "./speech-engines.ts";

/**
 * Creates the readers of one thread. An engine that cannot be used is told of as missing; rejects
 * with `unavailable` when none can be used.
 */
export async function createSpeechReaders({
  inference,
  engines = DEFAULT_ENGINES,
}: ReaderTools): Promise<ReaderFactory> {
  const ready = new Map<string, OpenedEngine>();
  const missing: MissingEngine[] = [];
  if (inference === undefined) throw new Error("there are no inference threads");
  for (const each of engines) {
    try {
      const opened = await openEngine(each, inference);
      await tryOut(opened);
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
  return {
    engines: [...ready.values()].map(({ engine }) => engine),
    missing,
    open: async (open) => {
      const { engine, create } = readyFor(open, ready, first);
      return SessionReader.open(open, {
        engine,
        createRecogniser: () => create(open.share),
        createTracker: (checkpoint) =>
          new SessionTracker(new NetworkVoices(inference.of(open.share)), checkpoint),
      });
    },
    close: async () => undefined,
  };
}

/** Makes a recogniser, so that what a model lacks shows at the start, and it is loaded already. */
async function tryOut({ create }: OpenedEngine): Promise<void> {
  const recogniser = await create();
  recogniser.close();
}

function readyFor(
  { engine: name }: Open,
  ready: ReadonlyMap<string, OpenedEngine>,
  first: OpenedEngine,
): OpenedEngine {
  const found = name === undefined ? first : ready.get(name);
  if (found !== undefined) return found;
  throw new AppError("engine_unavailable", `This worker has no engine "${name}".`);
}
