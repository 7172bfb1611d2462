import { readFileSync } from "node:fs";
import { Client } from "pg";
import { partitionOf } from "../../src/base/partition.ts";
import { adminToken, call, PairedDevice, PCM } from "./paired-device.ts";
import { WholeService } from "./whole-service.ts";

export const HOSTS = ["sessions-1", "sessions-2"] as const;
export type HostName = (typeof HOSTS)[number];

/** One second of silence: what is measured is the service, not the recogniser. */
const SILENCE: readonly Uint8Array[] = [new Uint8Array(32_000)];

/** A cluster with sessions that record, and a look into its database. */
export class ServiceCluster {
  readonly service: WholeService;
  readonly database: Client;
  readonly devices: readonly PairedDevice[];
  readonly #pieces: readonly Uint8Array[];
  readonly #sent = new Map<string, number>();

  private constructor(
    service: WholeService,
    database: Client,
    devices: PairedDevice[],
    pieces: readonly Uint8Array[],
  ) {
    this.service = service;
    this.database = database;
    this.devices = devices;
    this.#pieces = pieces;
  }

  /** `pieces`: what each session says, one chunk each, and again from the first. */
  static async start(sessions: number, pieces = SILENCE): Promise<ServiceCluster> {
    const service = await WholeService.start({ VOICE_CLUSTER: "1" });
    try {
      const env = environmentOf(service.ready.pids["sessions-1"] ?? 0);
      const database = new Client({ connectionString: env.DATABASE_URL });
      await database.connect();
      const devices: PairedDevice[] = [];
      while (devices.length < sessions) {
        const device = await PairedDevice.pair(service);
        await device.start();
        devices.push(device);
      }
      return new ServiceCluster(service, database, devices, pieces);
    } catch (error) {
      await service.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.database.end();
    await this.service.stop();
  }

  /** Both hosts own half of the partitions. */
  balanced(): Promise<void> {
    return this.service.balanced(120_000);
  }

  /** The devices whose sessions this host has, of these. */
  async devicesOn(host: HostName, devices = this.devices): Promise<PairedDevice[]> {
    const token = await adminToken(this.service);
    const { body } = await call<{ nodes?: { name: string; partitions: number[] }[] }>(
      this.service.api,
      "GET",
      "/admin/overview",
      { token },
    );
    const pid = this.service.ready.pids[host];
    const node = body.nodes?.find(({ name }) => name.includes(`-${host}-${pid}-`));
    const mine = new Set(node?.partitions);
    return devices.filter(({ sessionId }) => mine.has(partitionOf(sessionId)));
  }

  /** The next chunk of a session, through this front. */
  async upload(device: PairedDevice, front = 0): Promise<void> {
    const sequence = this.#sent.get(device.sessionId) ?? 0;
    this.#sent.set(device.sessionId, sequence + 1);
    const base = this.service.ready.fronts[front]?.base_url;
    const { status } = await call(
      `${base}/api`,
      "POST",
      `/sessions/${device.sessionId}/upload-audio`,
      {
        key: device.key,
        bytes: this.#pieces[sequence % this.#pieces.length] ?? new Uint8Array(0),
        headers: { "content-type": PCM, "x-chunk-sequence": String(sequence) },
      },
    );
    if (status !== 201) throw new Error(`An upload was answered ${status}.`);
  }

  uploaded(device: PairedDevice): number {
    return this.#sent.get(device.sessionId) ?? 0;
  }

  /** Epoch of the activation that each session has now. */
  async epochs(ids: readonly string[]): Promise<Map<string, number>> {
    const { rows } = await this.database.query<{ id: string; epoch: string }>(
      "select id, epoch from sessions where id = any($1)",
      [ids],
    );
    return new Map(rows.map(({ id, epoch }) => [id, Number(epoch)]));
  }

  /** Epoch of the newest event of each session; 0 without one. */
  async newestEpochs(ids: readonly string[]): Promise<Map<string, number>> {
    const { rows } = await this.database.query<{ id: string; epoch: string }>(
      `select s.id, coalesce((select max(epoch) from events where session_id = s.id), 0) as epoch
       from sessions s where s.id = any($1)`,
      [ids],
    );
    return new Map(rows.map(({ id, epoch }) => [id, Number(epoch)]));
  }
}

export function environmentOf(pid: number): Record<string, string> {
  const settings = readFileSync(`/proc/${pid}/environ`, "utf8");
  const entries = settings.split("\0").map((each) => each.split(/=(.*)/s).slice(0, 2));
  return Object.fromEntries(entries.filter(([name]) => name));
}
