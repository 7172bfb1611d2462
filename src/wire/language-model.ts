/** A language model that a worker may ask, as it announces it. */
export interface LanguageModelStatus {
  /** As the model's server knows it. */
  name: string;
  /** False when text leaves the machines of this installation. */
  local: boolean;
  /** Whether its server answered when it was asked last. */
  answers: boolean;
  /** Why it does not answer, a sentence. */
  reason?: string;
  /** What its server was found to do; empty until it has answered. */
  abilities: readonly ModelAbility[];
}

/** `json_schema`: its answers keep to a schema. `tools`: it calls tools. */
export type ModelAbility = (typeof ABILITIES)[number];

const ABILITIES = ["json_schema", "tools"] as const;
const MAX_NAME = 200;
const MAX_REASON = 1_000;

/** Whether the text of a workspace may be given to it, whose owner allows that text leaves or does not. */
export function mayGetText(
  { local }: Pick<LanguageModelStatus, "local">,
  mayLeave: boolean,
): boolean {
  return local || mayLeave;
}

/** The status in a message of another process; undefined when it is no valid one. */
export function tryLanguageModelStatus(value: unknown): LanguageModelStatus | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { name, local, answers, reason, abilities } = value as Record<string, unknown>;
  if (typeof name !== "string" || name === "" || name.length > MAX_NAME) return undefined;
  if (typeof local !== "boolean" || typeof answers !== "boolean") return undefined;
  return {
    name,
    local,
    answers,
    ...(typeof reason === "string" ? { reason: reason.slice(0, MAX_REASON) } : {}),
    // What a newer worker tells besides is passed over.
    abilities: Array.isArray(abilities) ? ABILITIES.filter((each) => abilities.includes(each)) : [],
  };
}

/** A sentence of a language model, which begins with a speaker's label, by the name that they have now. */
export function wordedText(text: string, nameOf: (label: string) => string): string {
  return text.replace(/^S\d+(?=\s)/, nameOf);
}
