import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { updatedAt } from "../../postgres/columns.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { NOTE_TEMPLATES, type NoteTemplateId } from "../../session/status.ts";
import { builtIn, type NoteTemplate, SECTION_KINDS } from "./templates.ts";

/** A template as it holds in a workspace. */
export interface TemplateRecord extends NoteTemplate {
  /** When the workspace changed its version last, Unix milliseconds; absent: it is the built-in one. */
  updatedAt?: number | undefined;
}

/** The version that somebody knows: `updatedAt` of a record, and that it is built in without one. */
type KnownVersion = Pick<TemplateRecord, "updatedAt">;

const sectionsColumn = z.array(
  z.object({
    title: z.string(),
    kind: z.enum(SECTION_KINDS),
    instruction: z.string().optional(),
  }),
);
const templateRow = z.object({
  id: z.enum(NOTE_TEMPLATES),
  title: z.string(),
  sections: sectionsColumn,
  updatedAt: z.number(),
});
const chosenRow = z.object({
  id: z.enum(NOTE_TEMPLATES),
  title: optionalColumn(z.string()),
  sections: optionalColumn(sectionsColumn),
});

const COLUMNS = sql.fragment`
  template_id as id, title, sections, updated_at as "updatedAt"`;

/** The templates of workspaces. Every method throws `unavailable` when storage is away. */
export class TemplateStore {
  readonly #pool: DatabasePool;

  constructor(pool: DatabasePool) {
    this.#pool = pool;
  }

  /** All of them, as they hold in the workspace. */
  async list(workspaceId: string): Promise<TemplateRecord[]> {
    const own = await this.#pool.any(sql.type(templateRow)`
      select ${COLUMNS} from note_templates where workspace_id = ${workspaceId}`);
    return NOTE_TEMPLATES.map((id) => own.find((each) => each.id === id) ?? builtIn(id));
  }

  async find(workspaceId: string, id: NoteTemplateId): Promise<TemplateRecord> {
    const own = await this.#pool.maybeOne(sql.type(templateRow)`
      select ${COLUMNS} from note_templates
      where workspace_id = ${workspaceId} and template_id = ${id}`);
    return own ?? builtIn(id);
  }

  /** The one by which a session's notes are arranged. */
  ofSession(sessionId: string): Promise<NoteTemplate> {
    return readTemplate(this.#pool, sessionId);
  }

  /**
   * Makes this the workspace's version. Undefined, and nothing is changed, when the template is no longer
   * the one that is `known`.
   */
  async replace(
    workspaceId: string,
    { id, title, sections }: NoteTemplate,
    known?: KnownVersion,
  ): Promise<TemplateRecord | undefined> {
    const text = JSON.stringify(sections);
    const row = await (known?.updatedAt === undefined
      ? this.#pool.maybeOne(sql.type(templateRow)`
          insert into note_templates (workspace_id, template_id, title, sections)
          values (${workspaceId}, ${id}, ${title}, ${text}::jsonb)
          on conflict (workspace_id, template_id) do update
            set title = excluded.title, sections = excluded.sections, updated_at = now()
            where ${known === undefined}
          returning ${COLUMNS}`)
      : this.#pool.maybeOne(sql.type(templateRow)`
          update note_templates set title = ${title}, sections = ${text}::jsonb, updated_at = now()
          where workspace_id = ${workspaceId} and template_id = ${id}
            and ${updatedAt(known.updatedAt)}
          returning ${COLUMNS}`));
    return row ?? undefined;
  }

  /**
   * Takes the workspace's version away, so that the built-in one holds. False, and nothing is changed, when
   * the template is no longer the one that is `known`.
   */
  async reset(workspaceId: string, id: NoteTemplateId, known?: KnownVersion): Promise<boolean> {
    const row = sql.fragment`workspace_id = ${workspaceId} and template_id = ${id}`;
    const nothing = z.object({}).strict();
    if (known !== undefined && known.updatedAt === undefined) {
      return !(await this.#pool.exists(sql.type(nothing)`
        select from note_templates where ${row}`));
    }
    const gone = await this.#pool.query(sql.unsafe`
      delete from note_templates where ${row} and ${updatedAt(known?.updatedAt)}`);
    return gone.rowCount > 0 || known === undefined;
  }
}

/** The template by which the session's notes are arranged; `general` where there is no such session. */
export async function readTemplate(
  connection: CommonQueryMethods,
  sessionId: string,
): Promise<NoteTemplate> {
  const chosen = await connection.maybeOne(sql.type(chosenRow)`
    select c.id, t.title, t.sections
    from sessions s
    join workspaces w on w.id = s.workspace_id
    cross join lateral (select coalesce(s.notes_template, w.notes_template) as id) as c
    left join note_templates t on t.workspace_id = w.id and t.template_id = c.id
    where s.id = ${sessionId}`);
  if (chosen === null) return builtIn("general");
  const { id, title, sections } = chosen;
  if (title === undefined || sections === undefined) return builtIn(id);
  return { id, title, sections };
}

/** For whoever deletes a workspace. */
export async function dropTemplatesOf(tx: CommonQueryMethods, workspaceId: string): Promise<void> {
  await tx.query(sql.unsafe`delete from note_templates where workspace_id = ${workspaceId}`);
}
