import { AppError, shown } from "../base/errors.ts";
import { AUTO, knowsLanguage, type SpeechEngine, UNHEARD } from "../wire/speech-engines.ts";

/** What decides which engine reads a session. */
export interface EngineRequest {
  /** BCP 47. */
  language: string;
  /** The engine that read up to the checkpoint from which the reading goes on. */
  current?: string | undefined;
  /** The engine that the request or the job named. */
  asked?: string | undefined;
  /** The workspace's choice. */
  preferred?: string | undefined;
  /** Whether the workspace's owner allows engines to which sound leaves the installation. */
  mayLeave: boolean;
  /** The account that owns the workspace; undefined when it has no owner. */
  tenant?: string | undefined;
}

/**
 * Chooses the engine of a reading: the one that read so far, else the one that was asked for, else
 * the workspace's, else the installation's, else the first that knows the language, local ones
 * first. Defaults that do not know the language are passed over; so is every engine to which sound
 * would leave without the owner's leave.
 *
 * Throws `engine_unavailable`, with a sentence for people, when there is none.
 */
export function chooseEngine(
  engines: readonly SpeechEngine[],
  { language, current, asked, preferred, mayLeave }: EngineRequest,
  installation?: string,
): SpeechEngine {
  const allowed = engines.filter(({ local }) => local || mayLeave);
  const going = allowed.find(({ name }) => name === current);
  if (going !== undefined) return going;
  const wanted = engines.find(({ name }) => name === asked);
  if (asked !== undefined && wanted === undefined) {
    throw new AppError(
      "engine_unavailable",
      `No worker has the engine "${asked}" at the moment; the audio waits until one has.`,
    );
  }
  const able = allowed.filter((engine) => knowsLanguage(engine, language));
  const isLocalFirst = able.toSorted((a, b) => Number(b.local) - Number(a.local));
  const names = [asked, preferred, installation];
  const named = names.flatMap((name) => able.filter((engine) => engine.name === name));
  const chosen = named[0] ?? isLocalFirst[0];
  if (chosen !== undefined) return chosen;
  const isRead = engines === UNHEARD || able.length < reading(engines, language).length;
  const code = isRead ? "engine_unavailable" : "language_unsupported";
  throw new AppError(code, noneKnows(engines, language));
}

function reading(engines: readonly SpeechEngine[], language: string): SpeechEngine[] {
  return engines.filter((engine) => knowsLanguage(engine, language));
}

/** The sentences that no engine may read this language here, and what becomes of the audio. */
export function noneKnows(engines: readonly SpeechEngine[], language: string): string {
  return reading(engines, language).length > 0
    ? `${notAllowed(engines, language)} The audio is kept.`
    : `${unsupported(engines, language)} The audio is kept, and is read by a redo once there is one, or in another language.`;
}

function notAllowed(engines: readonly SpeechEngine[], language: string): string {
  const names = reading(engines, language).map(({ name }) => name);
  return `Only engines to which the sound leaves this installation know "${language}" (${names.join(", ")}), and the workspace's owner has not allowed them.`;
}

function unsupported(engines: readonly SpeechEngine[], language: string): string {
  const known = [...new Set(engines.flatMap(({ languages }) => languages))].sort().join(", ");
  const what = language === AUTO ? "finds out the language" : `reads "${shown(language)}"`;
  return `No engine here ${what}. Languages that can be read: ${known}.`;
}

/**
 * Checks the language that a request names. Throws `language_unsupported`, with the languages that
 * can be read, when no engine of this installation reads it, be it reachable or not.
 */
export function assertLanguage(engines: readonly SpeechEngine[], named: string | undefined): void {
  if (named === undefined || engines === UNHEARD || reading(engines, named).length > 0) return;
  throw new AppError("language_unsupported", unsupported(engines, named));
}

/**
 * The warning about a session whose language no engine may read at the moment: its audio is kept.
 * Undefined when one may, and before any engine is known.
 */
export function languageWarning(
  engines: readonly SpeechEngine[],
  asked: Pick<EngineRequest, "language" | "mayLeave">,
): string | undefined {
  return whyUnread(engines, asked) && noneKnows(engines, asked.language);
}

/** The sentence alone that no engine may read the language, else as `languageWarning`. */
export function whyUnread(
  engines: readonly SpeechEngine[],
  { language, mayLeave }: Pick<EngineRequest, "language" | "mayLeave">,
): string | undefined {
  if (engines === UNHEARD) return undefined;
  const able = reading(engines, language);
  if (able.some(({ local }) => local || mayLeave)) return undefined;
  return able.length > 0 ? notAllowed(engines, language) : unsupported(engines, language);
}

/**
 * Checks an engine that a person or a device names. Throws `invalid_body` for one that is unknown
 * here or does not know the language, `forbidden` for one to which the sound would leave without
 * the owner's leave.
 */
export function assertMayRead(
  engines: readonly SpeechEngine[],
  { asked, language, mayLeave }: Pick<EngineRequest, "asked" | "language" | "mayLeave">,
): void {
  if (asked === undefined) return;
  const engine = engines.find(({ name }) => name === asked);
  if (engine === undefined) {
    const names = engines.map(({ name }) => name).join(", ");
    throw new AppError("invalid_body", `There is no engine "${asked}" here, only: ${names}.`);
  }
  if (!knowsLanguage(engine, language)) {
    throw new AppError(
      "invalid_body",
      `The engine "${asked}" does not know "${language}", only: ${engine.languages.join(", ")}.`,
    );
  }
  if (engine.local || mayLeave) return;
  throw new AppError(
    "forbidden",
    `The engine "${asked}" is not local: the sound would leave this installation, which an owner of the workspace has not allowed (\`remote_engines\` of the workspace).`,
  );
}
