import { styleText } from "node:util";
import type { operations } from "../../client/gen/api-schema.ts";
import { clockTime } from "../../wire/clock-time.ts";
import { printable } from "./transcript-line.ts";

type Comparison =
  operations["compareTranscription"]["responses"]["200"]["content"]["application/json"];

type Part = Comparison["parts"][number];
type Side = NonNullable<Part["current"]>;

/** Words of unchanged text that are shown before and behind a change. */
const AROUND = 5;
/** The caller decides whether colour is used, not styleText. */
const RAW = { validateStream: false };

/**
 * The changes as rows, each with its time and some words around it: `00:12  S1  … met [-tall
 * river-]{+Tolliver+} last week …`. Removed words are red, added ones green, changed speakers
 * yellow; the signs stand there with and without colour.
 */
export function diffRows({ parts }: Pick<Comparison, "parts">, colour: boolean): string[] {
  const rows: string[] = [];
  let at = 0;
  while (at < parts.length) {
    if (parts[at]?.kind === "same") {
      at += 1;
      continue;
    }
    const from = at;
    while (at < parts.length && !isLongCommon(parts[at])) at += 1;
    while (parts[at - 1]?.kind === "same") at -= 1;
    rows.push(row(parts, from, at, colour));
  }
  return rows;
}

/** True for text between two changes that is longer than what is shown around them. */
function isLongCommon(part: Part | undefined): boolean {
  return part?.kind === "same" && wordsOf(part.current).length > 2 * AROUND;
}

function row(parts: readonly Part[], from: number, to: number, colour: boolean): string {
  const before = wordsOf(parts[from - 1]?.current);
  const after = wordsOf(parts[to]?.current);
  const start = before.length > AROUND ? ["…"] : [];
  const end = after.length > AROUND ? ["…"] : [];
  const texts = [
    ...start,
    ...before.slice(-AROUND),
    ...parts.slice(from, to).map((part) => changed(part, colour)),
    ...after.slice(0, AROUND),
    ...end,
  ];
  const first = parts[from];
  const speakers = (first?.candidate ?? first?.current)?.speakers.join("+") ?? "";
  return `${clockTime(first?.start ?? 0)}  ${speakers}  ${texts.join(" ")}`;
}

function changed({ kind, current, candidate }: Part, colour: boolean): string {
  const gone = printable(current?.text ?? "");
  const come = printable(candidate?.text ?? "");
  if (kind === "same") return gone;
  if (kind === "speaker") {
    const voices = `${current?.speakers.join("+")} is ${candidate?.speakers.join("+")}`;
    return paint("yellow", `[${voices}: ${come}]`, colour);
  }
  const removed = current === undefined ? "" : paint("red", `[-${gone}-]`, colour);
  const added = candidate === undefined ? "" : paint("green", `{+${come}+}`, colour);
  return `${removed}${added}`;
}

function paint(style: "red" | "green" | "yellow", text: string, colour: boolean): string {
  return colour ? styleText(style, text, RAW) : text;
}

function wordsOf(side: Side | undefined): string[] {
  return side === undefined ? [] : printable(side.text).split(" ");
}

/** What the changes come to, in a few sentences. */
export function diffSummary(comparison: Comparison): string[] {
  const { counts, speakers, engine, edits_replaced: edits, expires_at: until } = comparison;
  const { same, replaced, added, removed, speaker_changed: moved } = counts;
  const read = engine === undefined ? "" : `Read by ${printable(engine)}. `;
  const changes = `${replaced} replaced, ${added} added, ${removed} removed`;
  const rows = [`${read}Words: ${same + moved} the same, ${changes}.`];
  if (moved > 0) {
    const pairs = speakers.map((each) => `${each.current} is ${each.candidate}: ${each.words}`);
    rows.push(`Words of another speaker: ${moved} (${pairs.join(", ")}).`);
  }
  if (edits > 0) {
    rows.push(`${edits === 1 ? "1 edited segment" : `${edits} edited segments`} will be replaced.`);
  }
  return [...rows, `It waits until ${until}.`];
}
