import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { scrapeQueues } from "../support/scraped-metrics.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";

/** Every queue, buffer and set of slots of a process with both roles. */
const QUEUES = [
  "activations",
  "answers_awaited",
  "audio_ahead_samples",
  "audio_files",
  "audio_pieces",
  "background",
  "bytes_of_request_bodies",
  "call_sockets",
  "calls_without_a_ticket",
  "chunks",
  "commands",
  "commands_posted",
  "compat_answers",
  "compat_sockets",
  "conversions",
  "database_connections",
  "device_sockets",
  "downloads",
  "graph_builds",
  "heartbeats",
  "jobs",
  "live_frames_held",
  "live_frames_kept_bytes",
  "live_socket_bytes",
  "live_sockets",
  "live_tick_frames",
  "long_recordings",
  "mailbox_control",
  "mailbox_requests",
  "outbox",
  "passwords",
  "questions",
  "requests",
  "rpc_connections",
  "rpc_ingests",
  "rpc_watch_bytes",
  "rpc_watches",
  "session_stream_sockets",
  "sound_measures",
  "sound_pieces",
  "stream_bytes",
  "stream_pieces_held",
  "transcripts",
  "uploads",
  "voice_comparisons",
  "voices_being_remembered",
  "webhooks",
];

describe("metrics", () => {
  let service: AppFixture;
  beforeAll(async () => {
    service = await AppFixture.start();
  });
  afterAll(() => service?.stop());

  it("metrics: every queue with its bound, requests by route, viewers and their frames", async () => {
    const { email, password } = service.ready.admin;
    const login = await fetch(`${service.api}/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email, password }),
    });
    const { token } = (await login.json()) as { token: string };
    await fetch(`${service.api}/sessions/0/chunks`);
    await fetch(`${service.api}/no/such/thing/${"x".repeat(50)}`);
    const viewer = new Viewer(service.ready.live_url, { authorization: `Bearer ${token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: "none" });
    await viewer.received("Error");
    await until(() => viewer.socket.readyState === 3, "the close");

    const { text, queues } = await scrapeQueues(service.ready.ops_url);
    expect([...queues.keys()].sort()).toEqual(QUEUES);
    for (const [name, { length, limit }] of queues) {
      expect(length, name).toBeGreaterThanOrEqual(0);
      expect(limit, name).toBeGreaterThan(0);
      expect(length, name).toBeLessThanOrEqual(limit);
    }
    const count = (labels: string): RegExp =>
      new RegExp(`^voice_http_request_seconds_count\\{${labels}\\} [1-9]`, "m");
    expect(text).toMatch(count('method="POST",route="/auth/login",status="200"'));
    expect(text).toMatch(
      count('method="GET",route="/sessions/\\{session_id\\}/chunks",status="401"'),
    );
    expect(text).toMatch(count('method="GET",route="none",status="404"'));
    expect(text).toMatch(/^voice_live_frames_sent_total [1-9]/m);
    expect(text).toMatch(/^voice_live_closes_total\{code="4404"\} 1$/m);
    expect(text).toMatch(/^voice_processing_oldest_seconds 0$/m);
    expect(text).toMatch(/^# TYPE voice_readings_interrupted_total counter$/m);
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
  });
});
