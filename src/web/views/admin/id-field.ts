const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;

/** The id in what somebody pasted, such as the address of a view; the text itself without one. */
export function idIn(text: string): string {
  return (ID.exec(text)?.[0] ?? text.trim()).toLowerCase();
}
