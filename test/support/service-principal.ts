import type { Scope, ServicePrincipal } from "../../src/access/principal.ts";
import { newId } from "../../src/base/ids.ts";

/** The caller with a service key of that workspace, made by that user. */
export function serviceKey(
  workspaceId: string,
  makerId: string,
  scopes: readonly Scope[],
): ServicePrincipal {
  const id = newId();
  return {
    kind: "service",
    ...{ id, secretId: id, workspaceId, makerId, scopes },
    expiresAt: Date.now() + 3_600_000,
  };
}
