import { CircleX, RotateCw, Trash2 } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { call, messageOf } from "../../api/client.ts";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import { usePages } from "../../parts/pages.ts";
import { RecordList, RecordRow } from "../../parts/record-row.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { momentOf } from "../../parts/times.ts";
import { showToast } from "../../parts/toasts.tsx";

const PAGE = 20;

/** Commands that failed so often that the service tries them no more; `count` is how many there are. */
export function ParkedCommands({ count }: { count: number }): VNode {
  const { state, items, reload, more } = usePages(page, []);
  useEffect(reload, [count, reload]);
  const [dropping, setDropping] = useState<string | undefined>();
  const retry = async (body: { ids: string[] } | { all: true }) => {
    try {
      const answer = await call((api) => api.POST("/admin/outbox/retry", { body }));
      showToast(answer.message);
      reload();
    } catch (error) {
      showToast(messageOf(error));
    }
  };
  return (
    <section class="stack" aria-labelledby="parked">
      <div class="row">
        <h2 id="parked">Commands that failed too often</h2>
        <button type="button" class="button push" onClick={() => void retry({ all: true })}>
          <RotateCw size={16} aria-hidden="true" /> Try all again
        </button>
      </div>
      {state.kind === "loading" && <Loading what="the commands" lines={2} />}
      {state.kind === "failed" && <Failure error={state.error} retry={reload} />}
      {items.length > 0 && (
        <RecordList label="Commands that failed too often">
          {items.map(({ id, type, attempts, parked_at: at, reason }) => (
            <RecordRow
              key={id}
              icon={<CircleX size={18} aria-hidden="true" />}
              title={type}
              facts={[`${attempts} attempts`, `given up ${momentOf(at)}`, reason]}
              actions={
                <>
                  <IconButton
                    label={`Try ${type} again`}
                    Icon={RotateCw}
                    onClick={() => void retry({ ids: [id] })}
                  />
                  <IconButton
                    label={`Drop ${type}`}
                    Icon={Trash2}
                    onClick={() => setDropping(id)}
                  />
                </>
              }
            />
          ))}
        </RecordList>
      )}
      <MoreButton more={more} />
      {dropping !== undefined && (
        <FormDialog
          title="Drop the command?"
          submit="Drop it"
          isEnd
          onClose={() => setDropping(undefined)}
          onSubmit={async () => {
            await call((api) => api.POST("/admin/outbox/drop", { body: { ids: [dropping] } }));
            reload();
          }}
        >
          <p>What it was to do is never done. It cannot be taken back.</p>
        </FormDialog>
      )}
    </section>
  );
}

function page(cursor: string | undefined) {
  const query = { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
  return call((api) => api.GET("/admin/outbox", { params: { query } }));
}

interface IconButtonProps {
  label: string;
  Icon: typeof Trash2;
  onClick: () => void;
}

function IconButton({ label, Icon, onClick }: IconButtonProps): VNode {
  return (
    <button type="button" class="button icon quiet" aria-label={label} onClick={onClick}>
      <Icon size={16} aria-hidden="true" />
    </button>
  );
}
