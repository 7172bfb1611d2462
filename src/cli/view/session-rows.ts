import type { operations } from "../../client/gen/api-schema.ts";
import { clockTime } from "../../wire/clock-time.ts";
import { type Speaker, speakerRow } from "./speaker-rows.ts";
import { localMinute } from "./table.ts";
import { printable } from "./transcript-line.ts";

export type Session = operations["getSession"]["responses"]["200"]["content"]["application/json"];
type Completeness =
  operations["getCompleteness"]["responses"]["200"]["content"]["application/json"];

/** Cells for a list: id, status, start, title. */
export function sessionCells(session: Session): string[] {
  const { id, status, started_at, title } = session;
  return [id, status, localMinute(started_at), printable(title)];
}

/** A session for people, one fact in a row, its speakers at the end. */
export function sessionRows(
  session: Session,
  completeness: Completeness,
  speakers: readonly Speaker[],
): string[] {
  const { stopped_at, completed_at, waiting } = session;
  const facts: [string, string | undefined][] = [
    ["title", printable(session.title)],
    ["status", statusText(session)],
    ["workspace", session.workspace_id],
    ["language", session.language],
    ["engine", engineText(session)],
    ["started", localMinute(session.started_at)],
    ["stopped", stopped_at && localMinute(stopped_at)],
    ["completed", completed_at && localMinute(completed_at)],
    ["audio", audioText(completeness)],
    ["waiting", waiting?.message],
  ];
  const rows = facts.flatMap(([name, fact]) => (fact ? [`${name.padEnd(11)}${fact}`] : []));
  const voices = speakers.map((speaker) => `  ${speakerRow(speaker)}`);
  return [`Session ${session.id}`, ...rows, ...(voices.length > 0 ? ["speakers", ...voices] : [])];
}

/** Why the service stopped a session, or why it failed, for people. */
export const REASONS = {
  device_silent: "nothing came any more",
  not_audio: "what came was no audio",
  audio_unreadable: "none of its audio could be read",
  language_unsupported: "no engine reads its language",
} as const;

function statusText({ status, stop_reason, reason }: Session): string {
  const why = stop_reason ?? reason;
  return why === undefined ? status : `${status} (${REASONS[why]})`;
}

/** The engine's name, with a mark when the sound leaves the installation. */
export function engineText({
  engine,
  sound_leaves,
}: Pick<Session, "engine" | "sound_leaves">): string | undefined {
  if (engine === undefined) return undefined;
  return printable(engine) + (sound_leaves === true ? " (the sound leaves this installation)" : "");
}

function audioText({ received_ms, lag_ms, missing }: Completeness): string {
  const behind = lag_ms > 0 ? `, ${clockTime(lag_ms / 1_000)} of it not read yet` : "";
  const gaps = missing.map(
    ({ start_ms, end_ms, reason }) =>
      `${reason} ${clockTime(start_ms / 1_000)}-${clockTime(end_ms / 1_000)}`,
  );
  const lost = gaps.length > 0 ? `; ${gaps.join(", ")}` : "";
  return clockTime(received_ms / 1_000) + behind + lost;
}
