import { DoorOpen } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { ApiError } from "../../../client/errors.ts";
import { account } from "../../api/account.ts";
import { call } from "../../api/client.ts";
import { joinBeside } from "../../api/sign-in.ts";
import { Alert } from "../../parts/alert.tsx";
import { useDeed } from "../../parts/deed.ts";
import { TextField } from "../../parts/fields.tsx";
import { useResource } from "../../parts/resource.ts";
import { Failure, Loading } from "../../parts/states.tsx";
import { ViewFrame } from "../../parts/view.tsx";

const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A guest link that somebody opens who is signed in already. */
export function View({ params }: { params: { code?: string } }): VNode {
  const { code = "" } = params;
  const [, navigate] = useLocation();
  const who = account.value;
  const { state, reload } = useResource(() => ownWay(code), [code, who?.id]);
  const own = state.kind === "ready" ? state.value : undefined;
  useEffect(() => {
    // Whoever belongs to the session needs no second self in it.
    if (own !== undefined) navigate(`/sessions/${own}`, { replace: true });
  }, [own]);
  return (
    <ViewFrame title="Join a conversation">
      {state.kind === "failed" && <Failure error={state.error} retry={reload} />}
      {state.kind === "ready" && own === undefined ? (
        <JoinForm code={code} />
      ) : (
        state.kind !== "failed" && <Loading what="the conversation" lines={3} />
      )}
    </ViewFrame>
  );
}

/** The session, where the link names one that the person may read as themself. */
async function ownWay(code: string): Promise<string | undefined> {
  if (!SESSION_ID.test(code)) return undefined;
  try {
    const params = { path: { session_id: code } };
    const { id } = await call((api) => api.GET("/sessions/{session_id}", { params }));
    return id;
  } catch (error) {
    if (error instanceof ApiError && [403, 404].includes(error.status)) return undefined;
    throw error;
  }
}

function JoinForm({ code }: { code: string }): VNode {
  const who = account.value;
  const [, navigate] = useLocation();
  const { isBusy, error, run } = useDeed();
  const [name, setName] = useState(who?.kind === "guest" ? who.name : "");
  const join = async () => {
    const id = await joinBeside(code, name.trim());
    navigate(`/sessions/${id}`, { replace: true });
  };
  return (
    <form
      class="card stack join"
      onSubmit={(event) => {
        event.preventDefault();
        void run(join);
      }}
    >
      <p>
        {who?.kind === "user"
          ? `You are signed in as ${who.email}. The link lets you read along as a guest; if you belong to the conversation, it opens as yours.`
          : "The link leads to another conversation than the one that you are in."}
      </p>
      <TextField
        label="Your name, as the others will see it"
        name="name"
        required
        maxLength={80}
        autocomplete="nickname"
        value={name}
        onInput={({ currentTarget }) => setName(currentTarget.value)}
      />
      <Alert text={error} />
      <div>
        <button type="submit" class="button primary" aria-disabled={isBusy}>
          <DoorOpen size={17} aria-hidden="true" /> Join
        </button>
      </div>
      {who?.kind === "user" && (
        <p class="soft small">You stay signed in: the menu of the account leads back.</p>
      )}
    </form>
  );
}
