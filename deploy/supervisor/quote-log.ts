/** A sentence that says what to do may name long paths, and ends with the command. */
const WIDTH = 2_000;

/** The last lines of a log for a person: indented, JSON reduced to its message and error. */
export function quoteLog(lines: readonly string[]): string {
  const quoted = lines.map((line) => `\n    ${readable(line).slice(0, WIDTH)}`);
  return quoted.length > 0 ? `:${quoted.join("")}` : "";
}

function readable(line: string): string {
  if (!line.startsWith("{")) return line;
  try {
    const content: Record<string, unknown> = JSON.parse(line);
    const parts = [content.msg, content.error].filter((part) => typeof part === "string");
    return parts.length > 0 ? parts.join(": ") : line;
  } catch {
    return line;
  }
}
