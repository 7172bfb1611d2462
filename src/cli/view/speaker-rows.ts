import { clockTime } from "../../wire/clock-time.ts";
import type { operations } from "../gen/api-schema.ts";
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

/** Label, how long it spoke, and its name: `S1    00:12  Ada`. */
export function speakerRow(speaker: Speaker): string {
  const { speaker_label: label, speaking_ms: spoken, display_name: name = "" } = speaker;
  const guest = speaker.guest === true ? " (guest)" : "";
  const row = `${label.padEnd(4)}  ${clockTime(spoken / 1_000)}  ${printable(name)}${guest}`;
  return row.trimEnd();
}
