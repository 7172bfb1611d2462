import { Copy, ShieldCheck, ShieldX } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { call, messageOf } from "../../api/client.ts";
import { Alert } from "../../parts/alert.tsx";
import { copyText } from "../../parts/copying.ts";
import { type ChainPosition, headIn, type Proof, proveChain } from "./audit-chain.ts";

type State =
  | { readonly kind: "idle" }
  | { readonly kind: "running"; readonly entries: number }
  | { readonly kind: "failed"; readonly told: string }
  | { readonly kind: "done"; readonly proof: Proof };

/** Has the service compute the log's hashes again, from its first entry to its last. */
export function AuditProof(): VNode {
  const [state, setState] = useState<State>({ kind: "idle" });
  const running = useRef<AbortController | undefined>();
  useEffect(() => () => running.current?.abort(), []);
  const prove = async (head: string | undefined) => {
    running.current?.abort();
    const stop = new AbortController();
    running.current = stop;
    const show = (next: State) => !stop.signal.aborted && setState(next);
    show({ kind: "running", entries: 0 });
    try {
      const proof = await proveChain(
        (from) => ask(from, head, stop.signal),
        (entries) => show({ kind: "running", entries }),
        stop.signal,
      );
      show({ kind: "done", proof });
    } catch (error) {
      show({ kind: "failed", told: messageOf(error) });
    }
  };
  const cancel = () => {
    running.current?.abort();
    setState({ kind: "idle" });
  };
  return (
    <section class="card stack" aria-labelledby="proof">
      <h2 id="proof">Is the log whole?</h2>
      <ProofForm isRunning={state.kind === "running"} onProve={prove} onCancel={cancel} />
      <div role="status">
        {state.kind === "running" && `${state.entries.toLocaleString()} entries are right so far …`}
        {state.kind === "done" && <Verdict proof={state.proof} />}
      </div>
      {state.kind === "failed" && <Alert text={state.told} />}
    </section>
  );
}

function ask(from: ChainPosition | undefined, head: string | undefined, signal: AbortSignal) {
  const query = {
    ...(from === undefined ? {} : { from_seq: from.seq, from_hash: from.hash }),
    head,
  };
  return call((api) => api.GET("/admin/audit/verify", { params: { query }, signal }));
}

interface FormProps {
  isRunning: boolean;
  onProve: (head: string | undefined) => Promise<void>;
  onCancel: () => void;
}

function ProofForm({ isRunning, onProve, onCancel }: FormProps): VNode {
  const [text, setText] = useState("");
  const head = headIn(text);
  const isOdd = text.trim() !== "" && head === undefined;
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isOdd) void onProve(head);
      }}
    >
      <input
        class="input mono audit-head"
        aria-label="An end of the log that you kept, number:hash"
        placeholder="An end that you kept, number:hash (if you have one)"
        value={text}
        aria-invalid={isOdd}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      {isRunning ? (
        <button key="stop" type="button" class="button" onClick={onCancel}>
          Stop
        </button>
      ) : (
        <button key="prove" type="submit" class="button" aria-disabled={isOdd}>
          <ShieldCheck size={16} aria-hidden="true" /> Verify the chain
        </button>
      )}
      {isOdd && (
        <span class="small admin-error" role="alert">
          It looks like 4711:, followed by 64 hexadecimal digits.
        </span>
      )}
    </form>
  );
}

function Verdict({ proof }: { proof: Proof }): VNode {
  if (proof.kind === "wrong") {
    return (
      <p class="notice" data-tone="danger">
        <ShieldX size={18} aria-hidden="true" />
        <span>
          {proof.seq === undefined
            ? "The log is not right: "
            : `Entry #${proof.seq} is not right: `}
          {proof.problem} {proof.entries.toLocaleString()} entries before it are.
        </span>
      </p>
    );
  }
  const head = proof.head && `${proof.head.seq}:${proof.head.hash}`;
  return (
    <div class="stack">
      <p class="notice">
        <ShieldCheck size={18} aria-hidden="true" />
        <span>
          {`All ${proof.entries.toLocaleString()} entries are right. `}
          {proof.isProtected
            ? "The service itself cannot change them."
            : "The service's database role could change them, though."}
        </span>
      </p>
      {head !== undefined && (
        <div class="row">
          <code class="audit-end">{head}</code>
          <button
            type="button"
            class="button"
            onClick={() => void copyText(head, "Copied. Keep it elsewhere.")}
          >
            <Copy size={16} aria-hidden="true" /> Copy the end
          </button>
          <span class="soft small">
            Kept elsewhere, it shows the next time whether the log was cut short.
          </span>
        </div>
      )}
    </div>
  );
}
