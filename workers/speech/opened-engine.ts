import type { SpeechEngine } from "../../src/wire/speech-engines.ts";
import type { Recogniser } from "./recogniser.ts";

/** An engine of a thread, which makes its recognisers. */
export interface OpenedEngine {
  readonly engine: SpeechEngine;
  create(): Promise<Recogniser>;
}
