import { Sparkles } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { account } from "../../api/account.ts";
import { call, messageOf } from "../../api/client.ts";
import type { Summary } from "../../api/records.ts";
import { useResource } from "../../parts/resource.ts";
import { Failure, Loading } from "../../parts/states.tsx";
import { tell } from "../../parts/toasts.tsx";
import { Moments } from "./citations.tsx";
import type { SessionModel } from "./model/session-model.ts";
import { itemWords, sectionTitle, wordedBy, wordedText } from "./summary-words.ts";

type Kind = Summary["summary_type"];

const KINDS: readonly { id: Kind; label: string }[] = [
  { id: "brief", label: "In brief" },
  { id: "detailed", label: "In detail" },
  { id: "action_items", label: "Action items" },
  { id: "decisions", label: "Decisions" },
  { id: "topics", label: "Topics" },
  { id: "speakers", label: "By speaker" },
];

/** While a session is live its summary is made anew, at most so often. */
const LIVE_EVERY_MS = 30_000;

interface SummaryProps {
  model: SessionModel;
  onJump: () => void;
}

/** Summaries by type; each line leads to where it was said. Kept up to date while live. */
export function SummaryPane({ model, onJump }: SummaryProps): VNode {
  const [kind, setKind] = useState<Kind>("brief");
  const [isMaking, setMaking] = useState(false);
  const news = model.summaryNews.value;
  const { state, reload } = useResource(
    () =>
      call((api) =>
        api.GET("/sessions/{session_id}/summaries", { params: { path: { session_id: model.id } } }),
      ),
    [model],
  );
  useEffect(() => {
    if (news === 0) return;
    setMaking(false);
    reload();
  }, [news, reload]);
  const found =
    state.kind === "ready"
      ? state.value.items.find((each) => each.summary_type === kind)
      : undefined;
  const make = async () => {
    setMaking(true);
    try {
      await call((api) =>
        api.POST("/sessions/{session_id}/summaries", {
          params: { path: { session_id: model.id } },
          body: { summary_type: kind },
        }),
      );
    } catch (error) {
      tell(messageOf(error));
      setMaking(false);
    }
  };
  useKeepCurrent(model, found, make);
  if (account.value?.kind === "guest") {
    return <p class="soft small">Summaries are for the members of the session.</p>;
  }
  return (
    <div class="stack">
      <label class="field">
        <span>Summary</span>
        <select
          class="input"
          value={kind}
          onChange={({ currentTarget }) => {
            const chosen = KINDS.find(({ id }) => id === currentTarget.value);
            if (chosen) setKind(chosen.id);
            setMaking(false);
          }}
        >
          {KINDS.map(({ id, label }) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {state.kind === "loading" && <Loading what="summaries" lines={3} />}
      {state.kind === "failed" && <Failure error={state.error} retry={reload} />}
      {state.kind === "ready" && found === undefined && !isMaking && (
        <p class="soft small">Nobody has asked for this one yet.</p>
      )}
      {isMaking && (
        <p class="soft small" role="status">
          Being made …
        </p>
      )}
      {found && <Shown model={model} summary={found} onJump={onJump} />}
      {state.kind === "ready" && (found === undefined || found.stale) && (
        <div>
          <button type="button" class="button" disabled={isMaking} onClick={() => void make()}>
            <Sparkles size={16} aria-hidden="true" />
            {found === undefined ? "Make it" : "Bring up to date"}
          </button>
        </div>
      )}
    </div>
  );
}

function Shown({ model, summary, onJump }: SummaryProps & { summary: Summary }): VNode {
  const { items, text, stale } = summary;
  const nameOf = (label: string) => model.nameOf(label);
  const writer = wordedBy(summary);
  const sections = [...new Set(items.map(({ section = "" }) => section))];
  return (
    <div class="stack">
      {stale && <span class="chip">More was said or changed since</span>}
      {items.length === 0 && <p>{text}</p>}
      {sections.map((section) => (
        <div key={section}>
          {section !== "" && <h3>{sectionTitle(section, nameOf)}</h3>}
          <Moments
            model={model}
            onJump={onJump}
            moments={items
              .filter((item) => (item.section ?? "") === section)
              .map(({ start_ms, text: said, speaker, owner, due }) => ({
                start_ms,
                text: itemWords(
                  { text: writer === "" ? said : wordedText(said, nameOf), owner, due },
                  nameOf,
                ),
                speaker: speaker !== undefined && /^S\d+$/.test(speaker) ? speaker : undefined,
              }))}
          />
        </div>
      ))}
      {writer !== "" && <p class="soft small">{writer}</p>}
    </div>
  );
}

/** Asks for the summary again while the session is live and it has fallen behind. */
function useKeepCurrent(
  model: SessionModel,
  found: Summary | undefined,
  make: () => Promise<void>,
): void {
  const latest = useRef({ found, make });
  latest.current = { found, make };
  useEffect(() => {
    const timer = setInterval(() => {
      const { found: now, make: again } = latest.current;
      if (model.isLive && now !== undefined && document.visibilityState === "visible") void again();
    }, LIVE_EVERY_MS);
    return () => clearInterval(timer);
  }, [model]);
}
