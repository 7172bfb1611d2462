import type { SpeechEngine } from "../../src/wire/speech-engines.ts";
import type { Recogniser } from "./recogniser.ts";

/** An engine of a thread, which makes its recognisers. */
export interface OpenedEngine {
  readonly engine: SpeechEngine;
  /** @param share whose turns it takes at the networks, see `Open.share` */
  create(share?: string): Promise<Recogniser>;
}
