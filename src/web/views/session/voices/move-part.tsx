import { ArrowLeft, CornerDownRight, Merge, UserPen, UserPlus } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { account } from "../../../api/account.ts";
import { call } from "../../../api/client.ts";
import { useResource } from "../../../parts/resource.ts";
import type { Line } from "../model/transcript-state.ts";
import type { PartProps } from "./claim-part.tsx";
import { SpeakerMark } from "./speaker-mark.tsx";

/** What goes to another speaker, or that a person is to be chosen. */
export type Choosing = "line" | "rest" | "voice" | "person";

const TITLES: Readonly<Record<Choosing, string>> = {
  line: "This line was said by",
  rest: "From this line on it was",
  voice: "The same voice as",
  person: "It is the voice of",
};

interface MovePartProps {
  /** False for lines of which nobody knows who said them. */
  isKnown: boolean;
  choose: (what: Choosing) => void;
  /** What was being chosen last, which has the focus again. */
  last: Choosing | undefined;
}

const OFFERS = [
  { what: "line", Icon: UserPen, text: "Reassign this line …" },
  { what: "rest", Icon: CornerDownRight, text: "Reassign from here on …" },
  { what: "voice", Icon: Merge, text: "Merge with another …" },
  { what: "person", Icon: UserPlus, text: "Assign to a member …" },
] as const;

/** What can be put right about who spoke. */
export function MovePart({ isKnown, choose, last }: MovePartProps): VNode {
  const again = useRef<HTMLButtonElement>(null);
  useEffect(() => again.current?.focus(), []);
  return (
    <>
      {OFFERS.filter(({ what }) => isKnown || what === "line").map(({ what, Icon, text }) => (
        <button
          key={what}
          ref={what === last ? again : null}
          type="button"
          class="button quiet"
          onClick={() => choose(what)}
        >
          <Icon size={16} aria-hidden="true" /> {text}
        </button>
      ))}
    </>
  );
}

interface MoveListProps extends PartProps {
  line: Line;
  choosing: Choosing;
  back: () => void;
}

/** The speakers, or people, of whom one is chosen; nothing happens before a press. */
export function MoveList(props: MoveListProps): VNode {
  const { choosing, back } = props;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current?.querySelector<HTMLElement>("button")?.focus(), []);
  return (
    <div class="voice-choices" ref={list}>
      <button type="button" class="button quiet" onClick={back}>
        <ArrowLeft size={16} aria-hidden="true" /> Back
      </button>
      <p class="small soft" id="voice-choice">
        {TITLES[choosing]}
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields */}
      <div class="voice-options" role="group" aria-labelledby="voice-choice">
        {choosing === "person" ? <People {...props} /> : <Voices {...props} />}
      </div>
    </div>
  );
}

function Voices({ model, label, line, choosing, carryOut }: MoveListProps): VNode {
  const others = model.speakers.value.filter((each) => each !== label);
  const isMerge = choosing === "voice";
  /** The lines that go, as they are when one is chosen. */
  const lines = () => {
    const own = model.lines.value.filter(({ isFinal, speaker }) => isFinal && speaker === label);
    return choosing === "line"
      ? [line.id]
      : own.filter(({ start }) => start >= line.start).map(({ id }) => id);
  };
  const choose = (into?: string) =>
    carryOut(() =>
      isMerge && into !== undefined
        ? model.voices.merge(label, into)
        : model.voices.give(lines(), label, into),
    );
  return (
    <>
      {!isMerge && (
        <button type="button" class="button quiet" onClick={() => choose()}>
          <UserPlus size={16} aria-hidden="true" /> A new speaker
        </button>
      )}
      {others.map((each) => (
        <button key={each} type="button" class="button quiet" onClick={() => choose(each)}>
          <SpeakerMark label={each} />
          {model.nameOf(each)}
        </button>
      ))}
      {isMerge && others.length === 0 && <p class="small soft">There is no other voice.</p>}
    </>
  );
}

function People({ model, label, carryOut }: MoveListProps): VNode {
  const workspaceId = model.session.value?.workspace_id ?? "";
  const { state } = useResource(
    () =>
      call((api) =>
        api.GET("/workspaces/{id}/members", {
          params: { path: { id: workspaceId }, query: { limit: 100 } },
        }),
      ),
    [workspaceId],
  );
  const people = state.kind === "ready" ? state.value.items : [];
  // An assignment to oneself confirms a claim, which a claim of one's own does not.
  return (
    <>
      {people.map(({ user_id: id, name, email }) => (
        <button
          key={id}
          type="button"
          class="button quiet"
          onClick={() => {
            const said = `The voice is that of ${name || email}.`;
            const claim = { userId: id, source: "moderator_assignment" } as const;
            carryOut(() => model.voices.claim(label, claim, said));
          }}
        >
          {`${name || email}${id === account.value?.id ? " (you)" : ""}`}
        </button>
      ))}
    </>
  );
}
