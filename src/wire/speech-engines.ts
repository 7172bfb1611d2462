/** A speech engine, as users name it and as workers announce it. */
export interface SpeechEngine {
  name: string;
  /** Primary subtags of the languages that it recognises; the first one is the default. */
  languages: readonly [string, ...string[]];
}

export const POCKETSPHINX: SpeechEngine = { name: "pocketsphinx", languages: ["en"] };

/** The engines that the workers of this release have. */
export const SPEECH_ENGINES: readonly SpeechEngine[] = [POCKETSPHINX];
