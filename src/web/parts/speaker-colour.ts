const COLOURS = 10;

/** The token of a label's colour: `S1` has the first, `UU` none of its own. */
export function speakerColour(label: string): string {
  const number = Number(label.slice(1));
  const place = Number.isInteger(number) && number > 0 ? ((number - 1) % COLOURS) + 1 : 0;
  return `--speaker-${place}`;
}
