import { AppError, type ErrorCode, shown } from "../base/errors.ts";
import { isEngineName, LANGUAGE_PATTERN, type SpeechEngine } from "../wire/speech-engines.ts";

const LANGUAGE = new RegExp(LANGUAGE_PATTERN);

/** The error for a parameter's value; its message begins with the name. */
export function wrong(
  parameter: string,
  what: string,
  code: ErrorCode = "invalid_parameter",
): AppError {
  return new AppError(code, `\`${parameter}\`: ${what}`, { parameter });
}

/** Reads `true` or `false`. Throws `invalid_parameter` for anything else. */
export function toSwitch(name: string, text: string | undefined, otherwise: boolean): boolean {
  if (text === undefined || text === "") return otherwise;
  if (/^(true|1)$/i.test(text)) return true;
  if (/^(false|0)$/i.test(text)) return false;
  throw wrong(name, `"${shown(text)}" is neither true nor false.`);
}

/** Reads a BCP 47 tag. Throws `invalid_parameter` for what is none. */
export function toLanguage(text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  if (LANGUAGE.test(text) && text.length <= 35) return text;
  throw wrong("language", `"${shown(text)}" is not a language tag such as "en" or "de-CH".`);
}

/**
 * The engine that a model stands for: a name of this installation's own, or undefined (the
 * workspace's choice) for a model of the other service. Throws `not_found` for neither, or
 * `invalid_parameter` where the model is a parameter of the address.
 */
export function toEngine(
  model: string,
  engines: readonly SpeechEngine[],
  isTheirs: (model: string) => boolean,
  isParameter = false,
): string | undefined {
  const own = engines.find(({ name }) => name === model);
  if (own !== undefined) return own.name;
  if (isTheirs(model)) return undefined;
  const names = engines.map(({ name }) => name).filter(isEngineName);
  throw wrong(
    "model",
    `there is no "${shown(model)}". Leave it as the other service calls it, or name an engine of this installation: ${names.join(", ")}.`,
    isParameter ? "invalid_parameter" : "not_found",
  );
}

/**
 * What a caller relies on beyond this answer: that words are taken out, or that the answer goes
 * elsewhere. Without it the call would do harm or nothing, so it is not ignored.
 */
const RELIED_ON =
  /(^|[_-])(redact(ion)?|pii|phi|anonymi[sz](e|ation)|profanity|censor|callback|webhook)([_[-]|$)/i;

/** Of them those with an address or a name, without which they are no wish. */
const ELSEWHERE = /callback|webhook/i;

/**
 * Throws `invalid_parameter` for a parameter that is not done here and that protects somebody or sends
 * the answer elsewhere, unless it is switched off, or empty.
 *
 * @param bare what an empty one is where it is a switch: addresses have switches without a value, forms
 * fields that nobody filled in
 */
export function refuseReliedOn(
  parameters: Readonly<Record<string, unknown>>,
  bare: "a bare name is a wish" | "an empty field is none" = "an empty field is none",
): void {
  const found = Object.entries(parameters).find(([name, value]) => {
    if (!RELIED_ON.test(name.replaceAll(/([a-z])([A-Z])/g, "$1_$2"))) return false;
    return isAskedFor(value, bare === "a bare name is a wish" && !ELSEWHERE.test(name));
  });
  if (found === undefined) return;
  throw wrong(
    shown(found[0]),
    "this is not done here, and a caller has to be able to rely on it. Leave it out.",
  );
}

function isAskedFor(value: unknown, isBareOn: boolean): boolean {
  if (Array.isArray(value)) return value.some((each) => isAskedFor(each, isBareOn));
  if (value === "") return isBareOn;
  return typeof value !== "string" || !/^(false|0|none|null)$/i.test(value);
}
