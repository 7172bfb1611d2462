import { Search } from "lucide-preact";
import type { VNode } from "preact";
import { Link, useLocation } from "wouter-preact";
import { clockTime } from "../../../wire/clock-time.ts";
import { call } from "../../api/client.ts";
import type { Hit } from "../../api/records.ts";
import { useResource } from "../../parts/resource.ts";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { momentOf } from "../../parts/times.ts";
import { ViewFrame } from "../../parts/view.tsx";
import { snippetPieces } from "./snippet.ts";
import "./search.css";

const HITS = 50;
const MOST_WORKSPACES = 20;

/** What was said, in all workspaces; a hit opens its session at the moment. */
export function View({ params }: { params: { words?: string } }): VNode {
  const words = decoded(params.words ?? "");
  const { state, reload } = useResource(() => search(words), [words]);
  return (
    <ViewFrame title="Search">
      <Form words={words} />
      {words === "" && (
        <Empty title="Search what was said">
          <p>
            Words that must all occur. <code>"a phrase"</code>, <code>or</code> and{" "}
            <code>-not</code> work as in a search engine.
          </p>
        </Empty>
      )}
      {words !== "" && state.kind === "loading" && <Loading what="what was found" />}
      {state.kind === "failed" && <Failure error={state.error} retry={reload} />}
      {words !== "" && state.kind === "ready" && <Hits words={words} hits={state.value} />}
    </ViewFrame>
  );
}

async function search(words: string): Promise<readonly Hit[]> {
  if (words === "") return [];
  const { items } = await call((api) =>
    api.GET("/workspaces", { params: { query: { limit: MOST_WORKSPACES } } }),
  );
  const found = await Promise.all(
    items.map(({ id }) =>
      call((api) =>
        api.GET("/workspaces/{id}/search", {
          params: { path: { id }, query: { q: words, limit: HITS } },
        }),
      ),
    ),
  );
  return found.flatMap((each) => each.items).sort((a, b) => b.score - a.score);
}

function Form({ words }: { words: string }): VNode {
  const [, navigate] = useLocation();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const next = String(new FormData(event.currentTarget).get("words")).trim();
    if (next !== "") navigate(`/search/${encodeURIComponent(next)}`);
  };
  return (
    <search>
      <form class="row search-form" onSubmit={submit}>
        <input
          key={words}
          class="input"
          name="words"
          type="search"
          aria-label="Search what was said"
          defaultValue={words}
          required
        />
        <button type="submit" class="button primary">
          <Search size={17} aria-hidden="true" /> Search
        </button>
      </form>
    </search>
  );
}

function Hits({ words, hits }: { words: string; hits: readonly Hit[] }): VNode {
  if (hits.length === 0) {
    return (
      <Empty title={`Nobody said “${words}”`}>
        <p>Not in the sessions that you may read. Try fewer words, or their beginnings.</p>
      </Empty>
    );
  }
  return (
    <>
      <p class="soft small" role="status">
        {hits.length === 1 ? "One moment" : `${hits.length} moments`}
      </p>
      <ul class="hits">
        {hits.map((hit) => (
          <li key={`${hit.session_id} ${hit.segment_id}`}>
            <Link class="hit" href={`/sessions/${hit.session_id}/${hit.start_ms}`}>
              <span class="hit-head">
                <strong>{hit.session_title || "Untitled conversation"}</strong>
                <span class="soft small">{momentOf(hit.said_at)}</span>
              </span>
              <span>
                <span class="soft small">
                  {`${clockTime(hit.start_ms / 1_000)} ${hit.speaker_name ?? hit.speaker_label} `}
                </span>
                {snippetPieces(hit.snippet).map(({ text, isMatch }, n) =>
                  isMatch ? <mark key={n}>{text}</mark> : <span key={n}>{text}</span>,
                )}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
