import type { SpeechEngine } from "../../../src/wire/speech-engines.ts";
import type { OpenAiSettings } from "../engine-schemas.ts";
import type { RecognisedWord } from "../recogniser.ts";
import { type EndedUtterance, WholeUtteranceRecogniser } from "../whole-utterance.ts";
import type { TranscriptionClient } from "./transcription-client.ts";

/** Longest tail of the text before, and longest list of names, in a prompt; characters. */
const TAIL = 200;
const NAMES = 400;

/** What an engine of this kind is, by its settings. */
export function describeOpenAi(settings: OpenAiSettings): SpeechEngine {
  const [first, ...others] = settings.languages;
  const floor = settings.confidence_floor;
  return {
    name: settings.name,
    languages: [first ?? "en", ...others],
    streaming: false,
    // Servers that tell no times are found out with the first request; the best is announced.
    wordTimes: true,
    punctuation: true,
    vocabulary: true,
    local: settings.local === true,
    model: { name: settings.model },
    ...(floor === undefined ? {} : { confidenceFloor: floor }),
    ...(settings.cost_per_hour === undefined ? {} : { costPerHour: settings.cost_per_hour }),
  };
}

/**
 * An engine behind an OpenAI-compatible server: an utterance is sent when it has ended, with the end
 * of the text before it. There are no hypotheses. What a session said last is kept in memory only,
 * so that its words stand in no checkpoint; a reading that goes on elsewhere begins without it.
 */
export class OpenAiRecogniser extends WholeUtteranceRecogniser {
  readonly engine: string;
  readonly engineVersion: string;
  readonly confidenceFloor?: number;
  readonly #client: TranscriptionClient;
  #names = "";
  #tail = "";

  constructor(settings: OpenAiSettings, client: TranscriptionClient) {
    super("en");
    this.#client = client;
    this.engine = settings.name;
    this.engineVersion = settings.model;
    if (settings.confidence_floor !== undefined) this.confidenceFloor = settings.confidence_floor;
  }

  useVocabulary(phrases: readonly string[]): void {
    let names = "";
    for (const phrase of phrases) {
      const longer = names === "" ? phrase : `${names}, ${phrase}`;
      if (longer.length > NAMES) break;
      names = longer;
    }
    this.#names = names;
  }

  protected read(utterance: EndedUtterance, signal: AbortSignal): Promise<RecognisedWord[]> {
    const prompt = [this.#names, this.#tail].filter((each) => each !== "").join(". ");
    return this.#client.transcribe({ ...utterance, prompt }, signal);
  }

  override finish(): RecognisedWord[] {
    const words = super.finish();
    const text = words.map((word) => word.text).join(" ");
    if (text !== "") this.#tail = endOf(`${this.#tail} ${text}`.trim());
    return words;
  }
}

/** The end of the text, from a word's beginning. */
function endOf(text: string): string {
  if (text.length <= TAIL) return text;
  const end = text.slice(-TAIL);
  return end.slice(end.indexOf(" ") + 1);
}
