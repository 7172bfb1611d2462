import { Sparkles } from "lucide-preact";
import type { ComponentChildren, VNode } from "preact";
import { useEffect } from "preact/hooks";
import { wordedText } from "../../../../wire/language-model.ts";
import { account } from "../../../api/account.ts";
import type { Summary } from "../../../api/records.ts";
import { useDeed } from "../../../parts/deed.ts";
import { Failure, Loading } from "../../../parts/states.tsx";
import { momentOf } from "../../../parts/times.ts";
import { wordedBy } from "../model/note-words.ts";
import type { SessionModel } from "../model/session-model.ts";
import { NOTE_KINDS } from "../model/session-notes.ts";
import { ActionItems } from "./action-items.tsx";
import { NoteSentences } from "./note-sentences.tsx";
import "./notes.css";

type Kind = Summary["summary_type"];

interface KindWords {
  readonly kind: Kind;
  readonly title: string;
  /** What is said where nothing was found. */
  readonly none: string;
  /** Long, or looked at rarely: opened by a press. */
  readonly isFolded?: true;
}

const KINDS: readonly KindWords[] = [
  { kind: "brief", title: "In brief", none: "Too little was said to sum it up." },
  { kind: "action_items", title: "Action items", none: "Nobody said what they will do." },
  { kind: "decisions", title: "Decisions", none: "No decision was found." },
  { kind: "open_questions", title: "Open questions", none: "No question was left open." },
  { kind: "topics", title: "Topics", none: "No topic stood out.", isFolded: true },
  { kind: "detailed", title: "In detail", none: "Too little was said.", isFolded: true },
  { kind: "speakers", title: "By speaker", none: "Nobody was heard.", isFolded: true },
];

/** Their cues are English: of other languages they find little, which is no sign that there was none. */
const ENGLISH_ONLY: ReadonlySet<Kind> = new Set<Kind>([
  "action_items",
  "decisions",
  "open_questions",
]);

interface NotesProps {
  model: SessionModel;
  onJump: () => void;
}

/** What the service notes of the session by itself; each sentence leads to its moment. */
export function NotesPane({ model, onJump }: NotesProps): VNode {
  const { notes } = model;
  const isGuest = account.value?.kind === "guest";
  useEffect(() => {
    if (!isGuest) notes.open();
  }, [notes, isGuest]);
  if (isGuest) return <p class="soft small">Notes are for the members of the session.</p>;
  if (notes.page.value === undefined) {
    const { value: error } = notes.failure;
    return error === undefined ? (
      <Loading what="notes" lines={5} />
    ) : (
      <Failure error={error} retry={() => void notes.load()} />
    );
  }
  const isAny = NOTE_KINDS.some((kind) => notes.of(kind) !== undefined);
  return (
    <div class="stack notes">
      <Standing model={model} />
      {isAny && KINDS.map((words) => <Section key={words.kind} {...{ model, words, onJump }} />)}
    </div>
  );
}

/** Whether they are there and current, and the button that has them made. */
function Standing({ model }: { model: SessionModel }): VNode {
  const { notes } = model;
  const { isBusy, run } = useDeed();
  const shown = NOTE_KINDS.map((kind) => notes.of(kind));
  const found = shown.flatMap((summary) => summary ?? []);
  const wanted = NOTE_KINDS.filter((kind) => notes.of(kind)?.stale !== false);
  const isStale = found.some(({ stale }) => stale);
  const newest = found
    .map((each) => each.created_at)
    .sort()
    .at(-1);
  const making = NOTE_KINDS.flatMap((kind) => notes.progressOf(kind) ?? []);
  return (
    <div class="notes-standing stack">
      <div role="status">
        {making.length > 0 && <p class="small">{makingWords(making.length)}</p>}
        {making.length === 0 && found.length === 0 && <NoNotes model={model} />}
        {making.length === 0 && newest !== undefined && (
          <p class="soft small">
            {isStale ? (
              <>
                <span class="chip" data-tone="warn">
                  Out of date
                </span>{" "}
                {staleWords(model.isLive)}
              </>
            ) : (
              `Made ${momentOf(newest)}`
            )}
          </p>
        )}
      </div>
      {making.length > 0 && (
        <progress
          class="bar"
          aria-label="Notes being made"
          max={NOTE_KINDS.length}
          value={NOTE_KINDS.length - making.length + making.reduce((sum, each) => sum + each, 0)}
        />
      )}
      {making.length === 0 && wanted.length > 0 && model.lines.value.length > 0 && (
        <div>
          <button
            type="button"
            class="button"
            aria-disabled={isBusy}
            onClick={() => void run(() => notes.make(wanted))}
          >
            <Sparkles size={16} aria-hidden="true" />
            {found.length === 0 ? "Make the notes now" : "Make them again"}
          </button>
        </div>
      )}
    </div>
  );
}

function makingWords(left: number): string {
  return left === NOTE_KINDS.length
    ? "The notes are being made …"
    : `The notes are being made: ${NOTE_KINDS.length - left} of ${NOTE_KINDS.length} are there …`;
}

function staleWords(isLive: boolean): string {
  return isLive
    ? "More was said since. They are made again every few minutes, and at the end."
    : "Words or names have changed since.";
}

function NoNotes({ model }: { model: SessionModel }): VNode {
  if (model.isLive) {
    return (
      <p class="soft small">
        Notes appear here by themselves: every few minutes while it records, and at the end.
      </p>
    );
  }
  if (model.session.value?.status === "processing") {
    return <p class="soft small">Notes appear here by themselves once the words are read.</p>;
  }
  return (
    <p class="soft small">
      {model.lines.value.length === 0
        ? "Nothing was said, so there is nothing to note."
        : "There are no notes of this session yet."}
    </p>
  );
}

interface SectionProps extends NotesProps {
  words: KindWords;
}

function Section({ model, words, onJump }: SectionProps): VNode {
  const { kind, title, isFolded } = words;
  const summary = model.notes.of(kind);
  const count = kind === "action_items" ? leftWords(summary) : "";
  const heading = (
    <h2 id={`notes-${kind}`}>
      {title} {count !== "" && <span class="soft small">{count}</span>}
    </h2>
  );
  const content = <Content {...{ model, words, summary, onJump }} />;
  return (
    <Part label={`notes-${kind}`} isFolded={isFolded === true} heading={heading}>
      {content}
    </Part>
  );
}

function leftWords(summary: Summary | undefined): string {
  const { items = [] } = summary ?? {};
  const done = items.filter((item) => item.done === true).length;
  return done === 0 ? "" : `${done} of ${items.length} done`;
}

interface PartProps {
  label: string;
  isFolded: boolean;
  heading: VNode;
  children: ComponentChildren;
}

function Part({ label, isFolded, heading, children }: PartProps): VNode {
  if (!isFolded) {
    return (
      <section aria-labelledby={label}>
        {heading}
        {children}
      </section>
    );
  }
  return (
    <details>
      <summary>{heading}</summary>
      {children}
    </details>
  );
}

interface ContentProps extends SectionProps {
  summary: Summary | undefined;
}

function Content({ model, words, summary, onJump }: ContentProps): VNode {
  const { kind, none } = words;
  if (summary === undefined) return <NotMade model={model} kind={kind} />;
  const { text } = summary;
  const writer = wordedBy(summary);
  const items =
    writer === ""
      ? summary.items
      : summary.items.map((item) => ({
          ...item,
          text: wordedText(item.text, (label) => model.nameOf(label)),
        }));
  if (items.length === 0) {
    const { language = "" } = model.session.value ?? {};
    const isForeign = ENGLISH_ONLY.has(kind) && !language.startsWith("en");
    return (
      <p class="soft small">
        {isForeign ? "These are found in English conversations alone so far." : text || none}
      </p>
    );
  }
  const Items = kind === "action_items" ? ActionItems : NoteSentences;
  return (
    <>
      <Items model={model} items={items} onJump={onJump} />
      {writer !== "" && <p class="soft small">{writer}</p>}
    </>
  );
}

function NotMade({ model, kind }: { model: SessionModel; kind: Kind }): VNode {
  const { isBusy, run } = useDeed();
  if (model.notes.progressOf(kind) !== undefined) return <p class="soft small">Being made …</p>;
  return (
    <button
      type="button"
      class="button"
      aria-disabled={isBusy}
      onClick={() => void run(() => model.notes.make([kind]))}
    >
      <Sparkles size={16} aria-hidden="true" /> Make it
    </button>
  );
}
