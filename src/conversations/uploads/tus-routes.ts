import { Type } from "@sinclair/typebox";
import type { Principal } from "../../access/principal.ts";
import { AppError, unknownThing } from "../../base/errors.ts";
import { isId } from "../../base/ids.ts";
import { defineRoute, HUMAN_ROLES, type Route } from "../../rest/route.ts";
import { requireSession } from "../sessions/access.ts";
import { sessionParams } from "../sessions/schema.ts";
import { receiveBytes } from "./receiving.ts";
import {
  headersOf,
  optionsHeadersOf,
  TUS_HEADERS,
  type UploadRouteOptions,
} from "./route-parts.ts";
import { presentUpload, uploadSchema } from "./schema.ts";
import type { FileUpload } from "./store.ts";
import { assertVersion, CHECKSUM_ALGORITHMS, TUS_BYTES, TUS_VERSION } from "./tus.ts";

const header = (description: string) => Type.Optional(Type.String({ description }));
/** A body of bytes may take a day. */
const RECEIVE_MS = 25 * 3_600_000;

const params = Type.Composite([
  sessionParams,
  Type.Object({ upload_id: Type.String({ description: "UUID of the upload" }) }),
]);

/** An upload and who brings it. */
interface Own {
  upload: FileUpload;
  principal: Principal;
}

async function requireOwn(
  { directory, uploads }: UploadRouteOptions,
  principal: Principal | undefined,
  { session_id: sessionId, upload_id: id }: { session_id: string; upload_id: string },
): Promise<Own> {
  const grant = await requireSession(directory, principal, sessionId, "session.upload");
  const upload = isId(id) ? await uploads.find(sessionId, id, grant.principal.id) : undefined;
  if (upload === undefined) throw unknownThing("upload", id);
  return { upload, principal: grant.principal };
}

/** A request that names an upload. */
interface Named {
  principal: Principal | undefined;
  params: { session_id: string; upload_id: string };
}

interface Common {
  path: string;
  tag: "Session";
  auth: readonly ["bearer", "service_key"];
  roles: typeof HUMAN_ROLES;
  params: typeof params;
  resolve(request: Named): Promise<Own>;
}

/** GET, PATCH and DELETE /sessions/{id}/uploads/{upload_id}, as tus has them. */
export function tusRoutes(options: UploadRouteOptions): Route[] {
  const common: Common = {
    path: "/sessions/{session_id}/uploads/{upload_id}",
    tag: "Session",
    auth: ["bearer", "service_key"],
    roles: HUMAN_ROLES,
    params,
    resolve: ({ principal, params: ids }: Named) => requireOwn(options, principal, ids),
  };
  return [getUpload(common), bringBytes(options, common), deleteUpload(options, common)];
}

function getUpload(common: Common): Route {
  return defineRoute<Own, typeof params>({
    ...common,
    method: "get",
    id: "getUpload",
    summary: "How far a file has come, and what became of it",
    description:
      "For whoever brings it. HEAD is answered as tus wants it: `Upload-Offset` says from which byte on PATCH goes on.",
    etag: false,
    responses: { 200: { description: "The upload", schema: uploadSchema } },
    handle: async (_request, { upload }) => ({
      ...{ status: 200, body: presentUpload(upload), headers: headersOf(upload) },
    }),
  });
}

function bringBytes(
  { mostBytes, uploads, folder, files, storing }: UploadRouteOptions,
  common: Common,
): Route {
  const receiving = { uploads, folder, files, onWhole: () => storing.runner.wake() };
  return defineRoute<Own, typeof params>({
    ...common,
    method: "patch",
    id: "bringBytes",
    summary: "Bring bytes of a file",
    description:
      "As tus has it: the body's bytes follow the byte before `Upload-Offset`. What came of a body that breaks off is kept, but for one with `Upload-Checksum`, of which all or nothing is. The sound is read when the last byte is durable.",
    headers: Type.Object({
      "Tus-Resumable": Type.String({ description: `\`${TUS_VERSION}\`` }),
      "Upload-Offset": Type.String({ description: "Bytes that came before", examples: ["0"] }),
      "Upload-Checksum": header(
        `\`${CHECKSUM_ALGORITHMS.join("` or `")}\`, a space, and the digest of the body in Base64`,
      ),
    }),
    body: { kind: "bytes", mediaType: TUS_BYTES },
    optionsHeaders: optionsHeadersOf(mostBytes),
    timeoutMs: RECEIVE_MS,
    responses: { 204: { description: "Durable; `Upload-Offset` says how much has come" } },
    errors: [
      ...(["conflict", "upload_held", "checksum_mismatch", "not_audio"] as const),
      ...(["precondition_failed", "invalid_parameter"] as const),
    ],
    async handle(request, { upload, principal }) {
      assertVersion(request.headers);
      await receiveBytes(receiving, upload, request);
      const { sessionId, id } = upload;
      const current = (await uploads.find(sessionId, id, principal.id)) ?? upload;
      return { status: 204, headers: headersOf(current) };
    },
  });
}

function deleteUpload({ uploads, folder }: UploadRouteOptions, common: Common): Route {
  return defineRoute<Own, typeof params>({
    ...common,
    method: "delete",
    id: "deleteUpload",
    summary: "Give up an unfinished file",
    description: "What has come of it is removed. What is stored belongs to the session.",
    responses: { 204: { description: "It is gone" } },
    errors: ["conflict"],
    async handle(_request, { upload }) {
      if (!(await uploads.giveUp(upload.id))) {
        throw new AppError("conflict", "The file has come as a whole and is being stored.");
      }
      await folder.remove(upload);
      return { status: 204, headers: TUS_HEADERS };
    },
  });
}
