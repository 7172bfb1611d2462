import { Copy, Eye } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { account } from "../../api/account.ts";
import { API_BASE } from "../../api/client.ts";
import { copyText } from "../../parts/copying.ts";
import { TextField } from "../../parts/fields.tsx";
import { ViewFrame } from "../../parts/view.tsx";

/** How to go on in a terminal, and where the interface is described. */
export function View(): VNode {
  return (
    <ViewFrame title="Terminal and API">
      <div class="stack">
        <section class="card stack">
          <h2>In a terminal</h2>
          <p>Log in with e-mail and password, in the project's folder:</p>
          <Command>{`npx voice login --base-url ${API_BASE}`}</Command>
          <p>Then read along, or play a conversation as a device would:</p>
          <Command>{"npx voice tail SESSION"}</Command>
          <Command>{"npx voice device simulate deploy/demo/conversation.wav"}</Command>
          <p class="soft">
            <code>npx voice --help</code> lists the rest.
          </p>
        </section>
        <TokenCard />
        <section class="card stack">
          <h2>For programs</h2>
          <ul>
            <li>
              <a href="api/docs">Reference of the REST interface</a>,{" "}
              <a href="api/openapi.json">OpenAPI</a>
            </li>
            <li>
              <a href="api/asyncapi.json">AsyncAPI of the live channel</a>,{" "}
              <a href="api/health">health as JSON</a>
            </li>
          </ul>
        </section>
      </div>
    </ViewFrame>
  );
}

function TokenCard(): VNode {
  const [isShown, setShown] = useState(false);
  const token = account.value?.token ?? "";
  return (
    <section class="card stack">
      <h2>Your access token</h2>
      <p class="soft">
        Good for an hour, with all of your rights: whoever has it is you. This page forgets it when
        it is closed.
      </p>
      <TextField label="Access token" readOnly type={isShown ? "text" : "password"} value={token} />
      <div class="row">
        <button
          type="button"
          class="button"
          aria-pressed={isShown}
          onClick={() => setShown(!isShown)}
        >
          <Eye size={16} aria-hidden="true" /> {isShown ? "Hide" : "Show"}
        </button>
        <button
          type="button"
          class="button"
          onClick={() => void copyText(token, "The token is copied.")}
        >
          <Copy size={16} aria-hidden="true" /> Copy token
        </button>
      </div>
      <Command>{`export VOICE_BASE_URL=${API_BASE} VOICE_TOKEN='the token'`}</Command>
    </section>
  );
}

function Command({ children }: { children: string }): VNode {
  return (
    <div class="row command-row">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
      <pre tabIndex={0} class="command">
        {children}
      </pre>
      <button
        type="button"
        class="button icon"
        aria-label={`Copy ${children}`}
        onClick={() => void copyText(children, "Copied.")}
      >
        <Copy size={16} aria-hidden="true" />
      </button>
    </div>
  );
}
