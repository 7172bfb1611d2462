import { styleText } from "node:util";
import type { operations } from "../../client/gen/api-schema.ts";
import { clockTime } from "../../wire/clock-time.ts";
import { wrapped } from "./terminal-text.ts";
import { printable } from "./transcript-line.ts";

type Answer = operations["querySession"]["responses"]["200"]["content"]["application/json"];

interface AnswerStyle {
  /** The width of the terminal; infinite for a pipe. */
  readonly columns: number;
  readonly colour: boolean;
  /** True for an answer about several sessions, whose citations name theirs. */
  readonly isAcross: boolean;
}

/** The caller decides whether colour is used, not styleText. */
const RAW = { validateStream: false };
const INDENT = "    ";

/**
 * An answer, then what it rests on: `[1] 00:32  Anna  the words`, with the session's id where there
 * are several. A question that got no citation is answered alone.
 */
export function answerRows({ answer, citations }: Answer, style: AnswerStyle): string[] {
  const { columns, colour, isAcross } = style;
  const rows = answer.split("\n").flatMap((line) => wrapped(printable(line), columns - 1));
  if (citations.length === 0) return rows;
  const sources = citations.flatMap((cited, at) => {
    const name = printable(cited.speaker_name ?? cited.speaker_label);
    const place = isAcross ? `  session ${cited.session_id}` : "";
    const head = `[${at + 1}] ${clockTime(cited.start_ms / 1_000)}  ${name}${place}`;
    const said = wrapped(printable(cited.text), columns - INDENT.length - 1);
    return [colour ? styleText("bold", head, RAW) : head, ...said.map((row) => INDENT + row)];
  });
  return [...rows, "", ...sources];
}
