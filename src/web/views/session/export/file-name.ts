/** A file's name that every system takes. */
export function fileName(title: string): string {
  const plain = title.normalize("NFC").replaceAll(/[^\p{L}\p{N} ._-]+/gu, " ");
  return (
    plain
      .replaceAll(/\s+/g, " ")
      .replace(/^[. ]+/, "")
      .trim()
      .slice(0, 80) || "conversation"
  );
}
