import type { Story } from "./stories.ts";

/** What a deck promised and no session shows: a run that tried nothing proves nothing. */
export function missingBites(
  stories: readonly Story[],
  bites: ReadonlyMap<string, number>,
): string[] {
  const wanted = new Set<string>();
  for (const { delivery, deed } of stories) {
    if (delivery === "held") wanted.add("held back").add("chunks after their gap");
    if (delivery === "stop-first") wanted.add("stopped first");
    if (deed !== undefined) wanted.add(deed);
  }
  return [...wanted].filter((what) => !bites.get(what)).map((what) => `${what}: never happened`);
}
