/** Escapes characters that Markdown would read as formatting. */
export function escapeText(text: string): string {
  return text.replace(/([\\`*_{}[\]<>#|])/g, "\\$1");
}
