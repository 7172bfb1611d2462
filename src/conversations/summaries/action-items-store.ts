import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { type OutboxRow, outboxRow, writeOutbox } from "../../postgres/outbox.ts";
import { digestOf, type KnownItem } from "./known-items.ts";

/** An action item as it stands: what the notes say, and what people changed of it. */
export interface ActionItem {
  id: string;
  text: string;
  segmentIds: string[];
  startMs: number;
  speaker?: string | undefined;
  owner?: string | undefined;
  due?: string | undefined;
  done: boolean;
}

/** Absent members stay; null takes back what people changed. */
interface ActionItemChange {
  done?: boolean | undefined;
  owner?: string | null | undefined;
  due?: string | null | undefined;
}

const itemColumn = z.object({
  id: z.string().optional(),
  text: z.string(),
  segment_ids: z.array(z.string()),
  start_ms: z.number(),
  speaker: z.string().optional(),
  owner: z.string().optional(),
  due: z.string().optional(),
});
const itemsRow = z.object({ items: z.array(itemColumn) });
const editRow = z.object({
  itemId: z.string(),
  segmentId: z.string(),
  digest: z.string(),
  done: z.boolean(),
  owner: optionalColumn(z.string()),
  due: optionalColumn(z.string()),
});

type EditRow = z.output<typeof editRow>;

/** What people note at action items. Every method throws `unavailable` when storage is away. */
export class ActionItemStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** The item as it stands; undefined when the newest action items have none of this id. */
  async find(sessionId: string, itemId: string): Promise<ActionItem | undefined> {
    const items = await newestItems(this.#pool, sessionId);
    return present(items, await readItemEdits(this.#pool, sessionId)).find(
      ({ id }) => id === itemId,
    );
  }

  /**
   * Changes an item, and stores the command that tells the session's viewers. Undefined, and nothing is changed, when there is none of this id (any more), or
   * when it is no longer as `expected`.
   */
  change(
    { sessionId, itemId, byId }: { sessionId: string; itemId: string; byId: string },
    change: ActionItemChange,
    isExpected: (item: ActionItem) => boolean,
  ): Promise<{ item: ActionItem; outbox: OutboxRow[] } | undefined> {
    return this.#pool.transaction(async (tx) => {
      // Two who change an item at once come one after the other; a redaction waits, or has erased it.
      await tx.query(sql.unsafe`select from sessions where id = ${sessionId} for update`);
      const items = await newestItems(tx, sessionId);
      const edits = await readItemEdits(tx, sessionId);
      const item = present(items, edits).find(({ id }) => id === itemId);
      if (item === undefined || !isExpected(item)) return undefined;
      const said = items.find(({ id }) => id === itemId);
      const edit = edits.find((each) => each.itemId === itemId);
      const owner = change.owner === undefined ? edit?.owner : change.owner;
      const due = change.due === undefined ? edit?.due : change.due;
      await tx.query(sql.unsafe`
        insert into action_item_edits
          (session_id, item_id, segment_id, text_digest, done, owner, due, by_id)
        values (${sessionId}, ${itemId}, ${item.segmentIds[0] ?? itemId},
          decode(${digestOf(said?.text ?? item.text)}, 'hex'), ${change.done ?? item.done},
          ${owner ?? null}, ${due ?? null}, ${byId})
        on conflict (session_id, item_id) do update set
          segment_id = excluded.segment_id, text_digest = excluded.text_digest,
          done = excluded.done, owner = excluded.owner, due = excluded.due,
          by_id = excluded.by_id, updated_at = now()`);
      const changed = present(items, await readItemEdits(tx, sessionId));
      const stands = changed.find(({ id }) => id === itemId);
      if (stands === undefined) throw new Error("The action item was not written.");
      const about = { annotationType: "action_item", annotationId: itemId } as const;
      const row = outboxRow(sessionId, { type: "AnnotationStored", ...about });
      await writeOutbox(tx, row);
      return { item: stands, outbox: [row] };
    });
  }
}

/** What people noted at the session's items. */
export async function readItemEdits(
  connection: CommonQueryMethods,
  sessionId: string,
): Promise<readonly EditRow[]> {
  return connection.any(sql.type(editRow)`
    select item_id as "itemId", segment_id as "segmentId", encode(text_digest, 'hex') as digest,
      done, owner, due
    from action_item_edits where session_id = ${sessionId}`);
}

/** The items that the session has had last, and those at which people noted something. */
export async function knownItems(tx: CommonQueryMethods, sessionId: string): Promise<KnownItem[]> {
  const edits = await readItemEdits(tx, sessionId);
  const known = new Map(
    edits.map(({ itemId: id, segmentId, digest }) => [id, { id, segmentId, digest }]),
  );
  for (const {
    id,
    segment_ids: [segmentId = ""],
    text,
  } of await newestItems(tx, sessionId)) {
    if (id !== undefined) known.set(id, { id, segmentId, digest: digestOf(text) });
  }
  return [...known.values()];
}

async function newestItems(
  connection: CommonQueryMethods,
  sessionId: string,
): Promise<z.output<typeof itemColumn>[]> {
  const row = await connection.maybeOne(sql.type(itemsRow)`
    select items from summaries
    where session_id = ${sessionId} and summary_type = 'action_items'
    order by job_id desc limit 1`);
  return row?.items ?? [];
}

function present(
  items: readonly z.output<typeof itemColumn>[],
  edits: readonly EditRow[],
): ActionItem[] {
  return items.flatMap(({ id, segment_ids: segmentIds, start_ms: startMs, ...item }) =>
    id === undefined ? [] : [withEdit({ ...item, id, segmentIds, startMs }, edits)],
  );
}

/** The item with what people noted at it. */
export function withEdit<Item extends { id: string; owner?: string; due?: string }>(
  item: Item,
  edits: readonly EditRow[],
): Item & { done: boolean } {
  const edit = edits.find(({ itemId }) => itemId === item.id);
  if (edit === undefined) return { ...item, done: false };
  const owner = edit.owner ?? item.owner;
  const due = edit.due ?? item.due;
  const { owner: _owner, due: _due, ...rest } = item;
  return {
    ...rest,
    ...(owner ? { owner } : {}),
    ...(due ? { due } : {}),
    done: edit.done,
  } as Item & { done: boolean };
}
