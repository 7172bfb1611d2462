import { Type } from "@sinclair/typebox";
import { AppError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import {
  defineRoute,
  HUMAN_ROLES,
  type Reply,
  type Request,
  type Route,
  type UploadContent,
} from "../../rest/route.ts";
import { cutToName } from "../../wire/names.ts";
import { SUPPORTED_AUDIO } from "../recording/audio-container.ts";
import { requireSession, type SessionGrant } from "../sessions/access.ts";
import { sessionParams } from "../sessions/schema.ts";
import { headersOf, optionsHeadersOf, type UploadRouteOptions } from "./route-parts.ts";
import { presentUpload, uploadSchema } from "./schema.ts";
import { type FileUpload, RETENTION_HOURS } from "./store.ts";
import { assertVersion, readLength, readMetadata, TUS_EXTENSIONS, TUS_VERSION } from "./tus.ts";
import { tusRoutes } from "./tus-routes.ts";

const MAX_FILENAME = 255;
/** A file that comes in one request is stored before the answer: an hour takes some seconds. */
const STORE_MS = 10 * 60_000;

const query = Type.Object({
  more: Type.Optional(
    Type.Boolean({
      description:
        "`true`: another file follows, and the recording does not end with this one. It ends with the last one of those that are under way",
    }),
  ),
});
const header = (description: string) => Type.Optional(Type.String({ description }));
const tusHeaders = Type.Object({
  "Tus-Resumable": header(`\`${TUS_VERSION}\`, where the file is sent by tus`),
  "Upload-Length": header("With tus: the file's size, bytes"),
  "Upload-Metadata": header(
    "With tus: `filename` and `filetype`, each followed by its text in Base64, separated by a comma",
  ),
});

/** POST, GET /sessions/{id}/uploads, and what tus does with one of them. */
export function uploadRoutes(options: UploadRouteOptions): Route[] {
  return [createUpload(options), listUploads(options), ...tusRoutes(options)];
}

function createUpload(options: UploadRouteOptions): Route {
  const { directory, backlog, files, mostBytes } = options;
  return defineRoute({
    method: "post",
    path: "/sessions/{session_id}/uploads",
    id: "createUpload",
    tag: "Session",
    summary: "Bring a whole file to a session",
    description: `For service keys with \`sessions:write\` and the session's owner; not for a session that a device records. Either the file is the body, raw or as multipart with \`file\`, and is stored when this answers: 64 MiB, where the operator set no other limit. The same bytes again are answered 200 with the same upload. Or it comes by tus ${TUS_VERSION} (the protocol of tus.io; ${TUS_EXTENSIONS.replaceAll(",", ", ")}), for which any client of it serves: with \`Tus-Resumable\`, \`Upload-Length\` and no body this makes the upload, whose address \`Location\` tells, and PATCH there brings the bytes, in as many parts as it takes. ${SUPPORTED_AUDIO} A file that holds more than 15 min of sound is stored in parts, at most 12 h. The recording ends with the file, unless \`more\` says that others follow.`,
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: sessionParams,
    query,
    headers: tusHeaders,
    body: { kind: "upload", mediaTypes: ["audio/*", "video/*", "application/octet-stream"] },
    optionsHeaders: optionsHeadersOf(mostBytes),
    timeoutMs: STORE_MS,
    responses: {
      200: { description: "Was stored already", schema: uploadSchema },
      201: { description: "Stored, or ready for its bytes", schema: uploadSchema },
    },
    errors: [
      ...(["session_ended", "conflict", "quota_exceeded", "not_audio"] as const),
      ...(["chunk_conflict", "precondition_failed", "invalid_parameter"] as const),
    ],
    async resolve({ principal, params }) {
      const grant = await requireSession(directory, principal, params.session_id, "session.upload");
      backlog.check(params.session_id);
      return grant;
    },
    refusesUpload: (head, mediaType) => files.refusalByHead(head, mediaType),
    async handle(request, grant) {
      const isLast = request.query.more !== true;
      if (request.headers["tus-resumable"] === undefined)
        return oneShot(options, request, grant, isLast);
      assertVersion(request.headers);
      if ((request.upload?.bytes ?? 0) > 0) {
        throw new AppError("invalid_body", "Send the bytes with PATCH to the upload's address.");
      }
      const size = readLength(request.headers, mostBytes);
      const { filename = "", filetype = "" } = readMetadata(request.headers);
      const about = { filename, mediaType: filetype.toLowerCase(), size, isLast };
      const upload = await begin(options, grant, about);
      await place(options, upload);
      return { status: 201, body: presentUpload(upload), headers: headersOf(upload) };
    },
  });
}

async function begin(
  { uploads, tenants }: UploadRouteOptions,
  { principal, facts }: SessionGrant,
  file: Pick<FileUpload, "filename" | "mediaType" | "size" | "isLast"> & { sha256?: string },
): Promise<FileUpload> {
  return uploads.create({
    ...file,
    filename: cutToName(file.filename, MAX_FILENAME),
    mediaType: file.mediaType || "application/octet-stream",
    id: newId(),
    sessionId: facts.id,
    workspaceId: facts.workspaceId,
    uploaderId: principal.id,
    accountId: await tenants.ofWorkspace(facts.workspaceId),
  });
}

/** Makes the file of an upload; of one that cannot be made nothing is left. */
async function place(
  { folder, uploads }: UploadRouteOptions,
  upload: FileUpload,
  content?: UploadContent,
): Promise<void> {
  try {
    await folder.create(upload, content);
  } catch (error) {
    await uploads.remove(upload.id);
    throw error;
  }
}

/** Stores the file of the request. */
async function oneShot(
  options: UploadRouteOptions,
  { upload: file, signal }: Pick<Request, "upload" | "signal">,
  grant: SessionGrant,
  isLast: boolean,
): Promise<Reply> {
  const { uploads, storing } = options;
  if (file === undefined || file.bytes === 0) {
    throw new AppError("invalid_body", "The file is missing: send it as the body.");
  }
  const sessionId = grant.facts.id;
  const known = await uploads.same(sessionId, grant.principal.id, file.sha256);
  const { filename, mediaType, bytes: size, sha256 } = file;
  const upload =
    known ?? (await begin(options, grant, { filename, mediaType, size, sha256, isLast }));
  if (upload.state !== "stored") {
    if (known === undefined) await place(options, upload, file.content);
    // Whoever has gone has sent it: it is stored all the same.
    await storing.store(upload.id, new AbortController().signal, signal.aborted);
  }
  const stored = (await uploads.find(sessionId, upload.id, grant.principal.id)) ?? upload;
  return { status: known === undefined ? 201 : 200, body: presentUpload(stored) };
}

function listUploads({ directory, uploads }: UploadRouteOptions): Route {
  return defineRoute({
    method: "get",
    path: "/sessions/{session_id}/uploads",
    id: "listUploads",
    tag: "Session",
    summary: "The whole files of a session",
    description: `Those that are being brought, and what became of them in the last ${RETENTION_HOURS} h. For whoever may upload.`,
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params: sessionParams,
    responses: {
      200: {
        description: "Oldest first",
        schema: Type.Object({ items: Type.Array(uploadSchema) }, { $id: "UploadList" }),
      },
    },
    resolve: ({ principal, params }) =>
      requireSession(directory, principal, params.session_id, "session.upload"),
    async handle({ params }) {
      const items = await uploads.list(params.session_id);
      return { status: 200, body: { items: items.map(presentUpload) } };
    },
  });
}
