interface Engine {
  /** Primary subtags. */
  readonly languages: readonly string[];
  /** False: sound leaves the installation. */
  readonly local: boolean;
  /** Takes sessions of the language `auto`. */
  readonly detects_language?: true;
}

interface Place {
  /** BCP 47. */
  readonly preferred_language: string;
  readonly remote_engines: boolean;
}

/** What a session can be said to be spoken in, besides what its workspace expects. */
export interface LanguageChoice {
  /** A primary subtag, or `auto`. */
  readonly tag: string;
  readonly name: string;
}

/**
 * The languages that the engines read in a workspace, by name, without the one that it expects
 * anyway: none where there is nothing to choose.
 */
export function languagesFor(
  engines: readonly Engine[],
  place: Place | undefined,
): readonly LanguageChoice[] {
  if (place === undefined) return [];
  const allowed = engines.filter(({ local }) => local || place.remote_engines);
  const expected = primaryOf(place.preferred_language);
  const tags = new Set(allowed.flatMap(({ languages }) => languages));
  tags.delete(expected);
  const named = [...tags].map((tag) => ({ tag, name: languageName(tag) }));
  named.sort((one, other) => one.name.localeCompare(other.name));
  const detects = allowed.some(({ detects_language: does }) => does === true);
  const found = detects && expected !== "auto" ? [{ tag: "auto", name: "found by itself" }] : [];
  return [...found, ...named];
}

/** `German (Austria)` of `de-AT`; the tag itself where the browser has no name for it. */
export function languageName(tag: string): string {
  if (tag === "auto") return "found by itself";
  try {
    return new Intl.DisplayNames(undefined, { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}

function primaryOf(tag: string): string {
  return tag.toLowerCase().split("-")[0] ?? "";
}
