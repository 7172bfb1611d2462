import { Fingerprint, UserCheck, UserRound } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { account } from "../../../api/account.ts";
import type { SessionModel } from "../model/session-model.ts";

/** What each part of a voice's menu gets. */
export interface PartProps {
  model: SessionModel;
  label: string;
  /** Does it, and closes the menu when it worked. */
  carryOut: (deed: () => Promise<unknown>) => void;
}

/** "This is me", and what goes with it. */
export function ClaimPart({ model, label, carryOut }: PartProps): VNode {
  const me = account.value?.id ?? "";
  const claimant = model.claimedBy(label);
  const isMine = claimant !== undefined && claimant === me;
  if (isMine || (model.isOwner && claimant !== undefined)) {
    return (
      <>
        <button
          type="button"
          class="button quiet"
          onClick={() =>
            carryOut(() => model.voices.claim(label, undefined, "The claim is taken back."))
          }
        >
          <UserRound size={16} aria-hidden="true" />
          {isMine ? "This is not me" : "This is not theirs"}
        </button>
        {isMine && account.value?.kind === "user" && (
          <Remembering {...{ model, label, carryOut }} />
        )}
      </>
    );
  }
  const claim = { userId: me, source: "self_claim" } as const;
  return (
    <button
      type="button"
      class="button quiet"
      onClick={() => carryOut(() => model.voices.claim(label, claim, "This voice is yours."))}
    >
      <UserCheck size={16} aria-hidden="true" /> This is me
    </button>
  );
}

/** Asks before: a print of a voice is kept by its person's consent alone. */
function Remembering({ model, label, carryOut }: PartProps): VNode {
  const [isAsked, setAsked] = useState(false);
  if (!isAsked) {
    return (
      <button type="button" class="button quiet" onClick={() => setAsked(true)}>
        <Fingerprint size={16} aria-hidden="true" /> Remember my voice …
      </button>
    );
  }
  return (
    <div class="voice-consent stack">
      <p class="small">
        A print of your voice, which is biometric data, is kept in this workspace to suggest your
        name for voices like it. You can have it forgotten at any time.
      </p>
      <button
        type="button"
        class="button"
        onClick={() => carryOut(() => model.voices.remember(label))}
      >
        I agree: remember it
      </button>
    </div>
  );
}
