interface SnippetPiece {
  readonly text: string;
  readonly isMatch: boolean;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&#x27;": "'",
  "&amp;": "&",
};

/**
 * The pieces of a search hit's snippet, which comes as HTML with each match in `<mark>`. They are
 * shown as text: whatever stands there, it never becomes a part of the page.
 */
export function snippetPieces(snippet: string): SnippetPiece[] {
  const pieces: SnippetPiece[] = [];
  let isMatch = false;
  for (const part of snippet.split(/(<mark>|<\/mark>)/)) {
    if (part === "<mark>") isMatch = true;
    else if (part === "</mark>") isMatch = false;
    else if (part !== "") pieces.push({ text: plain(part), isMatch });
  }
  return pieces;
}

function plain(text: string): string {
  return text.replaceAll(/&(?:lt|gt|quot|#39|#x27|amp);/g, (name) => ENTITIES[name] ?? name);
}
