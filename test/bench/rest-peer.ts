/** The same read as it is commonly built: fastify with its own ajv, jose, and a pool of pg. */
import { readFileSync } from "node:fs";
import Fastify from "fastify";
import { createLocalJWKSet, jwtVerify } from "jose";
import pg from "pg";
import { answerParent } from "./answer-parent.ts";

const [databaseUrl = "", jwks = ""] = process.argv.slice(2);

const STANDING = `
  select logins.id, user_id, role from logins join users on users.id = logins.user_id
  where logins.id = $1 and revoked_at is null and disabled_at is null
    and logins.created_at >= tokens_valid_from`;

const FACTS = `
  select s.owner_id, s.visibility, s.status, m.relation, w.role,
    exists (
      select from content_elevations e
      where e.admin_id = $2 and (e.session_id is null or e.session_id = s.id)
        and e.ended_at is null and e.expires_at > now()
    ) as elevated
  from sessions s
  left join session_members m on m.session_id = s.id and m.user_id = $2
  left join workspace_members w on w.workspace_id = s.workspace_id and w.user_id = $2
  where s.id = $1`;

const RECORD = `
  select id, workspace_id, owner_id, device_id, job_id as transcription_job_id, title, language,
    status, visibility, guest_access_of(guest_access, workspace_id) as guest_access, workshop_id,
    started_at, stopped_at, completed_at, created_at
  from sessions where id = $1`;

const text = { type: "string" };
const members = [
  ...["id", "workspace_id", "owner_id", "device_id", "transcription_job_id", "title", "language"],
  ...["status", "visibility", "guest_access", "workshop_id"],
  ...["started_at", "stopped_at", "completed_at", "created_at"],
];

const keys = createLocalJWKSet(JSON.parse(readFileSync(jwks, "utf8")));
const pool = new pg.Pool({ connectionString: databaseUrl, max: 16 });
const standings = new Map<string, { user: string; until: number }>();
const app = Fastify({ logger: { file: "/dev/null" }, disableRequestLogging: true });

/** Remembered for 2 s, as the service does. */
async function userOf(login: string): Promise<string | undefined> {
  const known = standings.get(login);
  if (known !== undefined && known.until > performance.now()) return known.user;
  const { rows } = await pool.query(STANDING, [login]);
  const user: string | undefined = rows[0]?.user_id;
  if (user !== undefined) standings.set(login, { user, until: performance.now() + 2_000 });
  return user;
}

app.get<{ Params: { id: string } }>(
  "/api/sessions/:id",
  {
    schema: {
      params: { type: "object", required: ["id"], properties: { id: text } },
      response: {
        200: {
          type: "object",
          properties: Object.fromEntries(members.map((name) => [name, text])),
        },
      },
    },
  },
  async (request, reply) => {
    const token = request.headers.authorization?.replace(/^Bearer /, "") ?? "";
    const { payload } = await jwtVerify(token, keys, {
      algorithms: ["EdDSA"],
      issuer: "voice-session-service",
      audience: "voice:user",
      typ: "at+jwt",
      requiredClaims: ["exp", "iat", "jti", "sub", "sid"],
    });
    const user = await userOf(String(payload.sid));
    if (user === undefined) return reply.code(401).send({ success: false, message: "Sign in." });
    const { rows: facts } = await pool.query(FACTS, [request.params.id, user]);
    const [fact] = facts;
    if (fact === undefined) return reply.code(404).send({ success: false, message: "Unknown." });
    const allowed = fact.owner_id === user || fact.relation !== null || fact.role !== null;
    if (!allowed) return reply.code(403).send({ success: false, message: "Not yours." });
    const { rows } = await pool.query(RECORD, [request.params.id]);
    request.log.info({ route: "getSession", status: 200 }, "request");
    return Object.fromEntries(Object.entries(rows[0]).filter(([, value]) => value !== null));
  },
);

app.get("/api/health/live", async () => ({ status: "ok" }));

await app.listen({ host: "127.0.0.1", port: 0 });

answerParent(async () => {
  const address = app.server.address();
  return typeof address === "object" ? address?.port : 0;
});
