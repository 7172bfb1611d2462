import type { operations } from "../../client/gen/api-schema.ts";
import { clockTime } from "../../wire/clock-time.ts";
import { printable } from "./transcript-line.ts";

type Answer = operations["listSpeakers"]["responses"]["200"]["content"]["application/json"];

export type Speaker = Answer["items"][number];

/**
 * Whom an unclaimed voice sounds like, and what to do about it, one row for each: `S2 sounds like Ada
 * (93 %): voice speakers assign …`.
 */
export function suggestionRows(
  sessionId: string,
  speakers: readonly Speaker[],
  ownId: string,
): string[] {
  return speakers.flatMap(({ speaker_label: label, suggestions = [] }) =>
    suggestions.map(({ user_id: userId, display_name: name, likelihood }) => {
      const isOwn = userId === ownId;
      const who = isOwn ? "you" : printable(name ?? userId);
      const how = isOwn
        ? `voice speakers claim ${sessionId} ${label}`
        : `voice speakers assign ${sessionId} ${label} ${userId}`;
      return `${label} sounds like ${who} (${Math.round(100 * likelihood)} %): ${how}`;
    }),
  );
}

/** Label, how long it spoke, its name, and what is to be known of the claim: `S1    00:12  Ada`. */
export function speakerRow(speaker: Speaker): string {
  const { speaker_label: label, speaking_ms: spoken, display_name: name = "" } = speaker;
  const guest = speaker.guest === true ? " (guest)" : "";
  const contested = speaker.contested === true ? ", contested" : "";
  const since = speaker.voice_remembered_at;
  const remembered = since === undefined ? "" : `, remembered since ${since.slice(0, 10)}`;
  const told = `${printable(name)}${guest}${contested}${remembered}`;
  const row = `${label.padEnd(4)}  ${clockTime(spoken / 1_000)}  ${told}`;
  return row.trimEnd();
}
