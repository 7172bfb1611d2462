const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;

/** The id in what somebody pasted, such as the address of a view; the text itself without one. */
export function idIn(text: string): string {
  return (ID.exec(text)?.[0] ?? text.trim()).toLowerCase();
}

/** What stands on the lines of a text field, without what is empty and without repetitions. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== ""))];
}
