import { ArrowLeft, Printer } from "lucide-preact";
import type { VNode } from "preact";
import { Link } from "wouter-preact";
import { clockTime } from "../../../../wire/clock-time.ts";
import { account } from "../../../api/account.ts";
import { call } from "../../../api/client.ts";
import type { SummaryPage } from "../../../api/records.ts";
import { useResource } from "../../../parts/resource.ts";
import { Failure, Loading } from "../../../parts/states.tsx";
import { lengthOf, momentOf } from "../../../parts/times.ts";
import { ViewFrame } from "../../../parts/view.tsx";
import { PrintedNotes } from "./printed-notes.tsx";
import { type PrintedLine, turnsOf } from "./turns.ts";
import "./print.css";

interface Transcript {
  title: string;
  speakers: { speaker_label: string; display_name?: string }[];
  segments: (PrintedLine & { readable_text?: string })[];
}

/** The whole conversation on one page, as it is printed or kept as a PDF. */
export function View({ params }: { params: { id?: string } }): VNode {
  const { id = "" } = params;
  const { state, reload } = useResource(async () => {
    const path = { session_id: id };
    const session = await call((api) => api.GET("/sessions/{session_id}", { params: { path } }));
    const transcript = (await call((api) =>
      api.GET("/sessions/{session_id}/transcript", {
        params: { path, query: { format: "json" as const } },
      }),
    )) as Transcript;
    return { session, transcript, notes: await notesOf(id) };
  }, [id]);
  if (state.kind === "loading") {
    return (
      <ViewFrame title="Print">
        <Loading what="the words" lines={7} />
      </ViewFrame>
    );
  }
  if (state.kind === "failed") {
    return (
      <ViewFrame title="Print">
        <Failure error={state.error} retry={reload} />
      </ViewFrame>
    );
  }
  const { session, transcript, notes } = state.value;
  const names = new Map(
    transcript.speakers.map(({ speaker_label: label, display_name: name }) => [label, name]),
  );
  const turns = turnsOf(transcript.segments, (label) => nameOf(names.get(label), label));
  const people = [...new Set(turns.map(({ speaker }) => speaker))];
  const buttons = (
    <div class="row push unprinted">
      <Link class="button" href={`/sessions/${id}`}>
        <ArrowLeft size={16} aria-hidden="true" /> Back
      </Link>
      <button type="button" class="button primary" onClick={() => print()}>
        <Printer size={16} aria-hidden="true" /> Print
      </button>
    </div>
  );
  return (
    <ViewFrame title={session.title || "Conversation"} head={buttons}>
      <p class="soft">
        {[momentOf(session.started_at), lengthOf(session.duration_ms ?? 0), people.join(", ")]
          .filter((part) => part !== "")
          .join(" · ")}
      </p>
      {notes && <PrintedNotes notes={notes} nameOf={(label) => nameOf(names.get(label), label)} />}
      {turns.length === 0 && <p>Nobody was heard in this session.</p>}
      {turns.map(({ start, speaker, text }) => (
        <section key={start} class="printed-turn">
          <h2>
            {speaker} <span class="soft small">{clockTime(start / 1_000)}</span>
          </h2>
          <p>{text}</p>
        </section>
      ))}
    </ViewFrame>
  );
}

/** Guests are not given notes; where they cannot be read the words are printed all the same. */
async function notesOf(id: string): Promise<SummaryPage | undefined> {
  if (account.value?.kind !== "user") return undefined;
  const params = { path: { session_id: id } };
  return call((api) => api.GET("/sessions/{session_id}/summaries", { params })).catch(
    () => undefined,
  );
}

function nameOf(name: string | undefined, label: string): string {
  return name || (label === "UU" ? "Unknown" : `Speaker ${label.slice(1)}`);
}
