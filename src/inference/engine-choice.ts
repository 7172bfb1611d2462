import { AppError } from "../base/errors.ts";
import { knowsLanguage, type SpeechEngine } from "../wire/speech-engines.ts";

/** What decides which engine reads a session. */
export interface EngineWish {
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
  { language, current, asked, preferred, mayLeave }: EngineWish,
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
  throw new AppError("engine_unavailable", noneKnows(engines, language));
}

/** The sentence that no engine may read this language here. */
export function noneKnows(engines: readonly SpeechEngine[], language: string): string {
  const remote = engines.filter((engine) => !engine.local && knowsLanguage(engine, language));
  if (remote.length > 0) {
    const names = remote.map(({ name }) => name).join(", ");
    return `Only engines to which the sound leaves this installation know "${language}" (${names}), and the workspace's owner has not allowed them. The audio is kept.`;
  }
  const known = [...new Set(engines.flatMap(({ languages }) => languages))].sort().join(", ");
  return `No engine here knows "${language}"; there are ones for: ${known}. The audio is kept, and is read once one does or the session's language is changed by a redo.`;
}

/**
 * Checks an engine that a person or a device names. Throws `invalid_body` for one that is unknown
 * here or does not know the language, `forbidden` for one to which the sound would leave without
 * the owner's leave.
 */
export function assertMayRead(
  engines: readonly SpeechEngine[],
  { asked, language, mayLeave }: Pick<EngineWish, "asked" | "language" | "mayLeave">,
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
