import { Trash2 } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { clockTime } from "../../../wire/clock-time.ts";
import type { TranscriptionJob } from "../../api/records.ts";
import { HiddenContent } from "./hidden-content.tsx";

const SHOWN_AT_ONCE = 200;

interface WordsProps {
  job: TranscriptionJob;
  reload: () => void;
}

/** A job's words, or why they are not shown. */
export function JobWords({ job, reload }: WordsProps): VNode {
  if (job.session_was_deleted) {
    return (
      <p class="notice" data-tone="warn">
        <Trash2 size={18} aria-hidden="true" />
        <span>
          The session was deleted, and its words with it
          {job.deletion_event_kind !== undefined &&
            ` (${job.deletion_event_kind.replaceAll("_", " ")})`}
          . <code>{job.transcription_text}</code>
        </span>
      </p>
    );
  }
  if (job.elevation_required) return <HiddenContent job={job} onOpen={reload} />;
  return <Segments job={job} />;
}

function Segments({ job }: { job: TranscriptionJob }): VNode {
  const [count, setCount] = useState(SHOWN_AT_ONCE);
  const { segments, session_id: session } = job;
  return (
    <section class="card stack" aria-labelledby="words">
      <h2 id="words">Words</h2>
      {segments.length === 0 && <p class="soft">There are none.</p>}
      <ol class="admin-words">
        {segments.slice(0, count).map((segment) => (
          <li key={segment.id} class="admin-word">
            <Link href={`/sessions/${session}/${segment.start_ms}`}>
              {clockTime(segment.start_ms / 1_000)}
            </Link>
            <span class="soft">{segment.speaker_label ?? ""}</span>
            <span>{segment.text}</span>
          </li>
        ))}
      </ol>
      {segments.length > count && (
        <div>
          <button type="button" class="button" onClick={() => setCount(count + SHOWN_AT_ONCE)}>
            Show {Math.min(SHOWN_AT_ONCE, segments.length - count)} more of {segments.length}
          </button>
        </div>
      )}
    </section>
  );
}
