/** What stands on the lines of a text field, without what is empty and without repetitions. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== ""))];
}
