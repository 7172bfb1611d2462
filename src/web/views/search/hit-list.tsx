import type { VNode } from "preact";
import { Link } from "wouter-preact";
import { clockTime } from "../../../wire/clock-time.ts";
import type { Hit } from "../../api/records.ts";
import { momentOf } from "../../parts/times.ts";

interface SnippetPart {
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
 * The parts of a search hit's snippet, which comes as HTML with each match in `<mark>`. They are
 * shown as text: whatever stands there, it never becomes a part of the page.
 */
export function snippetParts(snippet: string): SnippetPart[] {
  const parts: SnippetPart[] = [];
  let isMatch = false;
  for (const part of snippet.split(/(<mark>|<\/mark>)/)) {
    if (part === "<mark>") isMatch = true;
    else if (part === "</mark>") isMatch = false;
    else if (part !== "") parts.push({ text: plain(part), isMatch });
  }
  return parts;
}

function plain(text: string): string {
  return text.replaceAll(/&(?:lt|gt|quot|#39|#x27|amp);/g, (name) => ENTITIES[name] ?? name);
}

/** Moments at which something was said; each opens its session there. */
export function HitList({ hits }: { hits: readonly Hit[] }): VNode {
  return (
    <ul class="hits">
      {hits.map((hit) => (
        <li key={`${hit.session_id} ${hit.segment_id}`}>
          <Link class="hit" href={`/sessions/${hit.session_id}/${hit.start_ms}`}>
            <span class="hit-head">
              <strong>{hit.session_title || "Untitled conversation"}</strong>
              <span class="soft small">{momentOf(beginningOf(hit))}</span>
            </span>
            <span>
              <span class="soft small">
                {`${clockTime(hit.start_ms / 1_000)} ${hit.speaker_name ?? speakerOf(hit.speaker_label)} `}
              </span>
              {snippetParts(hit.snippet).map(({ text, isMatch }, n) =>
                isMatch ? <mark key={n}>{text}</mark> : <span key={n}>{text}</span>,
              )}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** When the session began: that of a moment may lie ahead, as hours are uploaded in minutes. */
function beginningOf({ said_at, start_ms }: Hit): string {
  return new Date(Date.parse(said_at) - start_ms).toISOString();
}

function speakerOf(label: string): string {
  return label === "UU" ? "Unknown" : `Speaker ${label.slice(1)}`;
}
