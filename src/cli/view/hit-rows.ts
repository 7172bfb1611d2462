import { styleText } from "node:util";
import type { operations } from "../../client/gen/api-schema.ts";
import { clockTime } from "../../wire/clock-time.ts";
import { localMinute } from "./table.ts";
import { printable } from "./transcript-line.ts";

type Page = operations["searchWorkspace"]["responses"]["200"]["content"]["application/json"];

export type Hit = Page["items"][number];

/** The caller decides whether colour is used, not styleText. */
const RAW = { validateStream: false };

/**
 * A search hit in two rows: `SESSION  00:32  Anna  Weekly meeting, 2026-01-31 09:30`, then the words
 * around it, with the hits in bold where there is colour.
 */
export function hitRows(hit: Hit, colour: boolean): string[] {
  const name = printable(hit.speaker_name ?? hit.speaker_label);
  const about = `${printable(hit.session_title)}, ${localMinute(hit.said_at)}`;
  const head = `${hit.session_id}  ${clockTime(hit.start_ms / 1_000)}  ${name}  ${about}`;
  return [colour ? styleText("dim", head, RAW) : head, `    ${snippetText(hit.snippet, colour)}`];
}

/** The text of a snippet, which is HTML with nothing but `mark` elements. */
function snippetText(snippet: string, colour: boolean): string {
  return snippet
    .split(/<mark>([\s\S]*?)<\/mark>/)
    .map((part, at) => {
      const words = printable(unescaped(part));
      return at % 2 === 1 && colour ? styleText(["bold", "yellow"], words, RAW) : words;
    })
    .join("");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&amp;": "&",
};

function unescaped(html: string): string {
  return html.replace(/&(lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity] ?? entity);
}
