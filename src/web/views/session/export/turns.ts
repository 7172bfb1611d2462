/** What is printed of a segment. */
export interface PrintedLine {
  start_ms: number;
  speaker_label: string;
  text: string;
  readable_text?: string;
}

/** What one speaker said in a row. */
interface Turn {
  /** Milliseconds from the start of the session's audio. */
  readonly start: number;
  readonly speaker: string;
  readonly text: string;
}

/** A paragraph is not longer than about this, characters: a long talk is printed in several. */
const LONGEST = 900;

/** Joins what a speaker says in a row to paragraphs. */
export function turnsOf(lines: readonly PrintedLine[], nameOf: (label: string) => string): Turn[] {
  const turns: Turn[] = [];
  for (const { start_ms: start, speaker_label: label, text: heard, readable_text } of lines) {
    const text = readable_text ?? heard;
    const speaker = nameOf(label);
    const last = turns.at(-1);
    if (text === "") continue;
    if (last?.speaker === speaker && last.text.length < LONGEST) {
      turns[turns.length - 1] = { ...last, text: `${last.text} ${text}` };
    } else turns.push({ start, speaker, text });
  }
  return turns;
}
