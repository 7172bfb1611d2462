import { ListTree } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { clockTime } from "../../../wire/clock-time.ts";
import { call, messageOf } from "../../api/client.ts";
import { Menu } from "../../parts/menu.tsx";
import { useResource } from "../../parts/resource.ts";
import { showToast } from "../../parts/toasts.tsx";
import { type Chapter, chaptersOf } from "./chapters.ts";
import type { SessionModel } from "./model/session-model.ts";

interface Chapters {
  readonly chapters: readonly Chapter[];
  /** True where nobody has asked for them yet. */
  readonly isUnknown: boolean;
  readonly isBeingFound: boolean;
  readonly find: () => Promise<void>;
}

/** The session's chapters: the parts of its summary in detail, and how to have that made. */
export function useChapters(model: SessionModel): Chapters {
  const params = { path: { session_id: model.id } };
  const news = model.summaryNews.value;
  const [isBeingFound, setBeingFound] = useState(false);
  const { state, reload } = useResource(
    () => call((api) => api.GET("/sessions/{session_id}/summaries", { params })),
    [model],
  );
  useEffect(() => {
    if (news === 0) return;
    setBeingFound(false);
    reload();
  }, [news, reload]);
  const detailed =
    state.kind === "ready"
      ? state.value.items.find(({ summary_type: type }) => type === "detailed")
      : undefined;
  const chapters = useMemo(() => chaptersOf(detailed), [detailed]);
  const find = async () => {
    setBeingFound(true);
    try {
      await call((api) =>
        api.POST("/sessions/{session_id}/summaries", {
          params,
          body: { summary_type: "detailed" },
        }),
      );
    } catch (error) {
      showToast(messageOf(error));
      setBeingFound(false);
    }
  };
  const isUnknown = state.kind === "ready" && detailed === undefined;
  return { chapters, isUnknown, isBeingFound, find };
}

interface MenuProps extends Chapters {
  model: SessionModel;
  /** Which one is heard now; -1 for none. */
  now: number;
}

/** The chapters as a list; a press goes to where one begins. */
export function ChapterMenu({ model, now, ...given }: MenuProps): VNode {
  const { chapters, isUnknown, isBeingFound, find } = given;
  return (
    <Menu label="Chapters" class="button icon" button={<ListTree size={18} aria-hidden="true" />}>
      {(close) => (
        <>
          {chapters.map(({ startMs, title }, n) => (
            <button
              key={startMs}
              type="button"
              class="button quiet chapter"
              aria-current={n === now ? "true" : undefined}
              onClick={() => {
                close();
                model.jumpTo(startMs);
              }}
            >
              <span class="moment-at">{clockTime(startMs / 1_000)}</span> {title}
            </button>
          ))}
          {chapters.length === 0 && (
            <p class="soft small" role="status">
              {isBeingFound && "Looking for where the talk changes its subject …"}
              {!isBeingFound && isUnknown && "Where the talk changes its subject, by its words."}
              {!isBeingFound && !isUnknown && "There are none, as too little was said."}
            </p>
          )}
          {isUnknown && (
            <button
              type="button"
              class="button quiet"
              disabled={isBeingFound}
              onClick={() => void find()}
            >
              Find the chapters
            </button>
          )}
        </>
      )}
    </Menu>
  );
}
