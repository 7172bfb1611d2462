/** A text with its unclear words in brackets, `to [tunisia and?] back`, taken apart. */
export function heardText(marked: string): { text: string; unclear: number[] } {
  const unclear: number[] = [];
  let isInside = false;
  const words = marked.split(" ").map((written, place) => {
    isInside ||= written.startsWith("[");
    if (isInside) unclear.push(place);
    if (written.endsWith("?]")) isInside = false;
    return written.replace(/^\[|\?\]$/g, "");
  });
  return { text: words.join(" "), unclear };
}
