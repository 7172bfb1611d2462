import type { VNode } from "preact";
import { call, messageOf } from "../../api/client.ts";
import { useResource } from "../../parts/resource.ts";

/** How the service does, in a line, and where programs read on. */
export function ServiceHealth(): VNode {
  const { state } = useResource(() => call((api) => api.GET("/health")), []);
  const checks = state.kind === "ready" ? Object.entries(state.value.checks) : [];
  return (
    <footer class="small soft stack">
      <div role="status">
        {state.kind === "loading" && "Asking how the service does …"}
        {state.kind === "failed" && (
          <span class="chip" data-tone="danger">
            {messageOf(state.error)}
          </span>
        )}
        {state.kind === "ready" && (
          <>
            <p>{`Running, version ${state.value.version}.`}</p>
            {state.value.status !== "ok" && (
              <ul>
                {checks.map(([name, check]) => (
                  <li key={name}>{`${name}: ${saidOf(check)}`}</li>
                ))}
              </ul>
            )}
          </>
        )}
      </div>
      <p>
        For programs: <a href="api/docs">reference of the interface</a>,{" "}
        <a href="api/openapi.json">OpenAPI</a>, <a href="api/asyncapi.json">AsyncAPI</a>,{" "}
        <a href="api/health">health</a>
      </p>
    </footer>
  );
}

function saidOf(check: unknown): string {
  if (typeof check !== "object" || check === null) return String(check);
  if ("message" in check) return String(check.message);
  return "status" in check ? String(check.status) : "";
}
