import type { VNode } from "preact";
import { clockTime } from "../../../../wire/clock-time.ts";
import type { Summary } from "../../../api/records.ts";
import { heardParts, nameIn } from "../model/note-words.ts";
import type { SessionModel } from "../model/session-model.ts";

type NotedItem = Summary["items"][number];

interface MomentLinkProps {
  model: SessionModel;
  item: NotedItem;
  onJump: () => void;
  id?: string;
}

/** A sentence of the notes; a press shows where it was said, and puts the sound there. */
export function MomentLink({ model, item, onJump, id }: MomentLinkProps): VNode {
  const { speaker } = item;
  return (
    <button
      type="button"
      class="note-link"
      onClick={() => {
        onJump();
        model.jumpTo(item.start_ms);
      }}
    >
      <span id={id}>
        <HeardText text={item.text} />
      </span>{" "}
      <span class="moment-at">
        {clockTime(item.start_ms / 1_000)}
        {speaker !== undefined && ` ${nameIn(speaker, (label) => model.nameOf(label))}`}
      </span>
    </button>
  );
}

/** Words of the service for people, with those that were not heard clearly as the transcript shows them. */
export function HeardText({ text }: { text: string }): VNode {
  return (
    <>
      {heardParts(text).map(({ text: part, isUnclear }, n) => (
        <span
          key={n}
          data-unclear={isUnclear ? "" : undefined}
          title={isUnclear ? "Not heard clearly" : undefined}
        >
          {part}
        </span>
      ))}
    </>
  );
}

interface SentencesProps {
  model: SessionModel;
  items: readonly NotedItem[];
  onJump: () => void;
}

/** The sentences of a kind of notes, under the headings of its parts. */
export function NoteSentences({ model, items, onJump }: SentencesProps): VNode {
  const sections = [...new Set(items.map(({ section = "" }) => section))];
  return (
    <>
      {sections.map((section) => (
        <div key={section}>
          {section !== "" && <h3>{nameIn(section, (label) => model.nameOf(label))}</h3>}
          <ul class="note-list">
            {items
              .filter((item) => (item.section ?? "") === section)
              .map((item) => (
                <li key={`${item.start_ms} ${item.text}`}>
                  <MomentLink model={model} item={item} onJump={onJump} />
                </li>
              ))}
          </ul>
        </div>
      ))}
    </>
  );
}
