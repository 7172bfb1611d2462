import { Check } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { account } from "../../../api/account.ts";
import { Menu } from "../../../parts/menu.tsx";
import { attempt } from "../../../parts/toasts.tsx";
import type { SessionModel } from "../model/session-model.ts";
import type { Line } from "../model/transcript-state.ts";
import { ClaimPart } from "./claim-part.tsx";
import { KnownPart } from "./known-part.tsx";
import { type Choosing, MoveList, MovePart } from "./move-part.tsx";
import { SpeakerMark } from "./speaker-mark.tsx";
import "./voices.css";

interface VoiceMenuProps {
  model: SessionModel;
  /** A line of the voice: it alone, or all from it on, can be given to another. */
  line: Line;
}

/** A voice's mark and name; a press on it offers all that one can say of the voice. */
export function VoiceMenu({ model, line }: VoiceMenuProps): VNode {
  const label = line.speaker;
  const name = model.nameOf(label);
  const claimant = model.claimedBy(label);
  const isMine = claimant !== undefined && claimant === account.value?.id;
  const button = (
    <>
      <SpeakerMark label={label} />
      <span>{line.isGuess ? `${name}?` : name}</span>
      {isMine && <Check size={13} aria-label="you" />}
    </>
  );
  if (label === "UU" && !model.mayEdit) return <span class="speaker">{button}</span>;
  return (
    <Menu
      label={`${name}${line.isGuess ? ", a guess" : ""}: who is this?`}
      class="speaker"
      side="start"
      button={button}
    >
      {(close) => <Parts model={model} line={line} close={close} />}
    </Menu>
  );
}

function Parts({ model, line, close }: VoiceMenuProps & { close: () => void }): VNode {
  const [choosing, setChoosing] = useState<Choosing | undefined>();
  const [last, setLast] = useState<Choosing | undefined>();
  const label = line.speaker;
  /** Does it, says what went wrong, and closes the menu when it worked; what was done is told with its undo. */
  const carryOut = (deed: () => Promise<unknown>) => void attempt(() => deed().then(close));
  const parts = { model, label, carryOut };
  if (choosing !== undefined) {
    const back = () => {
      setLast(choosing);
      setChoosing(undefined);
    };
    return <MoveList {...parts} line={line} choosing={choosing} back={back} />;
  }
  const isKnown = label !== "UU";
  return (
    <>
      {isKnown && <ClaimPart {...parts} />}
      {isKnown && model.mayName && <KnownPart {...parts} />}
      {model.mayEdit && <MovePart isKnown={isKnown} choose={setChoosing} last={last} />}
    </>
  );
}
