import { CircleX, RotateCw, Trash2 } from "lucide-preact";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { PageList } from "../../parts/page-list.tsx";
import { usePages } from "../../parts/pages.ts";
import { RecordRow } from "../../parts/record-row.tsx";
import { momentOf } from "../../parts/times.ts";
import { attempt, showToast } from "../../parts/toasts.tsx";

const PAGE = 20;

/** Commands that failed so often that the service tries them no more; `count` is how many there are. */
export function ParkedCommands({ count }: { count: number }): VNode {
  const list = usePages(page, []);
  const { reload } = list;
  useEffect(reload, [count, reload]);
  const [dropping, setDropping] = useState<string | undefined>();
  const retry = (body: { ids: string[] } | { all: true }) =>
    attempt(async () => {
      const answer = await call((api) => api.POST("/admin/outbox/retry", { body }));
      showToast(answer.message);
      reload();
    });
  return (
    <section class="stack" aria-labelledby="parked">
      <div class="row">
        <h2 id="parked">Commands that failed too often</h2>
        <button type="button" class="button push" onClick={() => void retry({ all: true })}>
          <RotateCw size={16} aria-hidden="true" /> Try all again
        </button>
      </div>
      <PageList list={list} what="the commands" lines={2} label="Commands that failed too often">
        {({ id, type, attempts, parked_at: at, reason }) => (
          <RecordRow
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
                <IconButton label={`Drop ${type}`} Icon={Trash2} onClick={() => setDropping(id)} />
              </>
            }
          />
        )}
      </PageList>
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
  const query = { limit: PAGE, cursor };
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
