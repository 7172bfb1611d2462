import { wavHeader } from "../../src/base/audio/wav.ts";
import { adminToken, call, conversationPcm, persistently } from "./paired-device.ts";
import type { TestService } from "./test-service.ts";

/** The first seconds of a conversation, the shipped one if no other, as a WAV file. */
export function conversationWav(seconds: number, conversation = conversationPcm()): Buffer {
  const pcm = conversation.subarray(0, seconds * 32_000);
  return Buffer.concat([wavHeader(pcm.byteLength / 2), pcm]);
}

/** A workspace's owner who gives its keys to programs. */
export class CompatCaller {
  readonly service: TestService;
  readonly token: string;
  readonly workspaceId: string;

  private constructor(service: TestService, token: string, workspaceId: string) {
    this.service = service;
    this.token = token;
    this.workspaceId = workspaceId;
  }

  static async open(service: TestService): Promise<CompatCaller> {
    const token = await adminToken(service);
    const made = await persistently<{ id: string }>(service, "POST", "/workspaces", {
      token,
      body: { name: "Programs" },
    });
    return new CompatCaller(service, token, made.body.id);
  }

  async key(...scopes: string[]): Promise<string> {
    return (await this.issue(...scopes)).key;
  }

  async issue(...scopes: string[]): Promise<{ id: string; key: string }> {
    const body = { workspace_id: this.workspaceId, name: "Program", scopes };
    const made = await call<{ id: string; key: string }>(this.service.api, "POST", "/api-keys", {
      token: this.token,
      body,
    });
    if (made.status !== 201) throw new Error(`No key: ${made.status}`);
    return made.body;
  }

  /** Sessions of the workspace, newest first. */
  async sessions(): Promise<{ id: string; compat?: string; status: string; title: string }[]> {
    const path = `/sessions?workspace_id=${this.workspaceId}`;
    const listed = await call<{
      items: { id: string; compat?: string; status: string; title: string }[];
    }>(this.service.api, "GET", path, { token: this.token });
    return listed.body.items;
  }
}
