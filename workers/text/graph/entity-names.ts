import { compromise } from "../../../src/language/compromise.ts";
import type { Span } from "./span.ts";

const HONORIFICS = new Set(
  "mr mrs ms miss mx dr doctor prof professor sir lady lord dame rev reverend judge president".split(
    " ",
  ),
);
const COMPANY_FORMS = new Set(
  "inc incorporated corp corporation co company ltd limited llc plc gmbh ag".split(" "),
);
/** Dates such as "tomorrow" or "Monday", whose meaning depends on when they are said. */
const RELATIVE_DATE =
  /\b(today|tonight|tomorrow|yesterday|now|this|next|last|morning|afternoon|evening|night|o'clock|(mon|tues|wednes|thurs|fri|satur|sun)day)\b/;
const MAX_SINGULARS = 20_000;

const singulars = new Map<string, string>();

/**
 * Normalises a name: lower case, without punctuation and possessive endings, one space between
 * words.
 */
export function normaliseName(text: string): string {
  return text
    .toLowerCase()
    .replaceAll("’", "'")
    .replace(/'s?(?=\s|$)/g, "")
    .replace(/[^\p{L}\p{N}'%$€£.-]+/gu, " ")
    .replace(/(^|\s)[.'-]+|[.'-]+(?=\s|$)/g, "$1")
    .trim();
}

/**
 * The key that different spellings of an entity share: "Acme Corp." and "acme", "reports" and
 * "report".
 */
export function entityKey({ type, text }: Pick<Span, "type" | "text">): string {
  const name = normaliseName(text);
  if (type === "person") return nameTokens(text).join(" ") || name;
  if (type === "organisation") return dropWords(name.replace(/^the /, ""), COMPANY_FORMS) || name;
  if (type === "place" || type === "date") return name.replace(/^the /, "");
  return type === "topic" ? singularHead(name) : name;
}

/** The words of a person's name, without titles. */
export function nameTokens(text: string): string[] {
  // Recognisers write a possessive as a single "s".
  const words = normaliseName(text).replace(/ s$/, "").split(" ");
  return words.filter((word) => word !== "" && !HONORIFICS.has(word));
}

export function isRelativeDate(key: string): boolean {
  return RELATIVE_DATE.test(key);
}

/** The first letters of a name, which may be its acronym: "WHO". */
export function initials(key: string): string {
  const words = key.split(" ").filter((word) => word !== "of" && word !== "the" && word !== "and");
  return words.length < 2 ? "" : words.map((word) => word[0] ?? "").join("");
}

function dropWords(name: string, unwanted: ReadonlySet<string>): string {
  return name
    .split(" ")
    .filter((word) => !unwanted.has(word))
    .join(" ");
}

function singularHead(name: string): string {
  const at = name.lastIndexOf(" ") + 1;
  return name.slice(0, at) + singular(name.slice(at));
}

function singular(word: string): string {
  const known = singulars.get(word);
  if (known !== undefined) return known;
  if (singulars.size >= MAX_SINGULARS) singulars.clear();
  const result = /[^siu]s$|men$/.test(word) ? toSingular(word) : word;
  singulars.set(word, result);
  return result;
}

function toSingular(word: string): string {
  const doc = compromise()(word);
  doc.tag("Plural");
  return doc.nouns().toSingular().text().toLowerCase() || word;
}
