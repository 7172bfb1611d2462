/** A speech engine as people ask for it and as workers tell of it. */
export interface SpeechEngine {
  name: string;
  /** Primary subtags of the languages that it reads; the first stands for a language not named. */
  languages: readonly [string, ...string[]];
}

export const POCKETSPHINX: SpeechEngine = { name: "pocketsphinx", languages: ["en"] };

/** The engines that the workers of this release come with. */
export const SPEECH_ENGINES: readonly SpeechEngine[] = [POCKETSPHINX];
