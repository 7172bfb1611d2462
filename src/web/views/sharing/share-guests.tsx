import { Copy, Ticket } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { GuestCode } from "../../api/records.ts";
import { Alert } from "../../parts/alert.tsx";
import { copyText } from "../../parts/copying.ts";
import { useDeed } from "../../parts/deed.ts";
import { TextField } from "../../parts/fields.tsx";
import { MoreButton } from "../../parts/page-list.tsx";
import { usePages } from "../../parts/pages.ts";
import { QrCode } from "../../parts/qr-code.tsx";
import { RecordList, RecordRow } from "../../parts/record-row.tsx";
import { Failure } from "../../parts/states.tsx";
import { momentOf } from "../../parts/times.ts";
import { attempt, showToast } from "../../parts/toasts.tsx";
import type { SharedSession } from "./shared-session.ts";

interface GuestsProps {
  model: SharedSession;
  needsCode: boolean;
}

/** The links by which guests come in: the session's own, or one of each code. */
export function ShareGuests({ model, needsCode }: GuestsProps): VNode {
  const page = new URL(".", document.baseURI).href;
  const [code, setCode] = useState("");
  const codes = usePages<GuestCode>(
    (cursor) =>
      call((api) =>
        api.GET("/sessions/{session_id}/guest-codes", {
          params: { path: { session_id: model.id }, query: { limit: 20, cursor } },
        }),
      ),
    [model],
  );
  return (
    <section class="stack" aria-label="Guests">
      {!needsCode && (
        <GuestLink label="Guest link, for whoever has it" link={`${page}#/sessions/${model.id}`} />
      )}
      <details class="share-limits" open={needsCode || codes.items.length > 0}>
        <summary>Guest links that end, or for so many only</summary>
        <div class="stack">
          {code !== "" && (
            <GuestLink label="Guest link; it is shown this once" link={`${page}#/join/${code}`} />
          )}
          <MakeCode
            model={model}
            onMade={(made) => {
              setCode(made);
              codes.reload();
            }}
          />
          {codes.state.kind === "failed" && (
            <Failure error={codes.state.error} retry={codes.reload} />
          )}
          {codes.items.length > 0 && (
            <RecordList label="Guest codes">
              {codes.items.map((each) => (
                <CodeRow key={each.id} model={model} code={each} onEnded={codes.drop} />
              ))}
            </RecordList>
          )}
          <MoreButton more={codes.more} />
        </div>
      </details>
    </section>
  );
}

function GuestLink({ label, link }: { label: string; link: string }): VNode {
  return (
    <div class="stack guest-link">
      <div class="row">
        <TextField
          label={label}
          readOnly
          value={link}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
        <button
          type="button"
          class="button"
          onClick={() => void copyText(link, "The link is copied.")}
        >
          <Copy size={16} aria-hidden="true" /> Copy link
        </button>
      </div>
      <details>
        <summary>QR code</summary>
        <QrCode text={link} label="The guest link as a QR code" />
      </details>
    </div>
  );
}

const DAY_MS = 24 * 3_600_000;

interface MakeProps {
  model: SharedSession;
  onMade: (code: string) => void;
}

function MakeCode({ model, onMade }: MakeProps): VNode {
  const { isBusy, error, run } = useDeed();
  const make = async (fields: FormData) => {
    const days = Number(fields.get("days"));
    const most = Number(fields.get("most"));
    const made = await call((api) =>
      api.POST("/sessions/{session_id}/guest-codes", {
        params: { path: { session_id: model.id } },
        body: {
          ...(days > 0 ? { expires_at: new Date(Date.now() + days * DAY_MS).toISOString() } : {}),
          ...(most > 0 ? { max_uses: most } : {}),
        },
      }),
    );
    onMade(made.code);
  };
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        void run(() => make(fields));
      }}
    >
      <label class="field guest-choice">
        <span>The link is good</span>
        <select class="input" name="days">
          <option value="1">for a day</option>
          <option value="7">for a week</option>
          <option value="0">until it is ended</option>
        </select>
      </label>
      <label class="field guest-choice">
        <span>How many guests</span>
        <select class="input" name="most">
          <option value="0">any number</option>
          <option value="1">one</option>
          <option value="5">five</option>
          <option value="25">25</option>
        </select>
      </label>
      <button type="submit" class="button" aria-disabled={isBusy}>
        Make a guest link
      </button>
      <Alert text={error} />
    </form>
  );
}

interface RowProps {
  model: SharedSession;
  code: GuestCode;
  onEnded: (id: string) => void;
}

function CodeRow({ model, code, onEnded }: RowProps): VNode {
  const { id, created_at: made, expires_at: end, uses, max_uses: most } = code;
  const { isBusy, run } = useDeed();
  const isOver = end !== undefined && Date.parse(end) <= Date.now();
  const stop = () =>
    attempt(async () => {
      await call((api) =>
        api.DELETE("/sessions/{session_id}/guest-codes/{code_id}", {
          params: { path: { session_id: model.id, code_id: id } },
        }),
      );
      showToast("The link is ended, and whoever came by it is out.");
      onEnded(id);
    });
  return (
    <RecordRow
      icon={<Ticket size={17} aria-hidden="true" />}
      title={`Made ${momentOf(made)}`}
      facts={[
        most === undefined ? `${uses} came by it` : `${uses} of ${most} came by it`,
        end === undefined ? "" : `${isOver ? "ended" : "until"} ${momentOf(end)}`,
      ]}
      actions={
        <button
          type="button"
          class="button"
          aria-label={`End the link made ${momentOf(made)}`}
          aria-disabled={isBusy}
          onClick={() => void run(stop)}
        >
          End
        </button>
      }
    />
  );
}
