import { describe, expect, it } from "vitest";
import type { Layout } from "../../../deploy/supervisor/layout.ts";
import { readyState } from "../../../deploy/supervisor/ready-file.ts";

describe("ready file", () => {
  it("tells where every process has its metrics", () => {
    const layout = {
      nats: ["nats"],
      services: [
        { name: "main", title: "the main process", roles: "front,sessions" },
        { name: "worker", title: "the worker", roles: "worker" },
      ],
    } as unknown as Layout;
    const parts = new Map([
      ["main", { facts: { ops_url: "http://127.0.0.1:1" }, pid: 1 }],
      ["worker", { facts: { grpc_worker: "127.0.0.1:2", ops_url: "http://127.0.0.1:3" }, pid: 2 }],
    ]);
    const state = readyState(layout, parts, { email: "admin@example.org" });
    expect(state).toMatchObject({
      ops_url: "http://127.0.0.1:1",
      hosts: [{ ops_url: "http://127.0.0.1:1" }],
      workers: [{ grpc_worker: "127.0.0.1:2", ops_url: "http://127.0.0.1:3" }],
    });
  });
});
