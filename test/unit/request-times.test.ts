import { describe, expect, it } from "vitest";
import { RequestTimes } from "../../src/http/operations.ts";

describe("request times", () => {
  it("request times: a histogram as Prometheus reads it, a series for each label", () => {
    const times = new RequestTimes();
    const at = (seconds: number, method = "GET", status = 200) =>
      times.add({ method, route: "/a/{id}", status, seconds });
    for (const seconds of [0.001, 0.005, 0.006, 2, 31]) at(seconds);
    at(0.2, "GET", 404);
    at(0.2, "BREW", 405);
    at(0.2, "STEEP", 405);
    const text = times.text();
    const value = (name: string, labels: string) =>
      Number(
        text
          .split("\n")
          .find((line) => line.startsWith(`voice_http_request_seconds_${name}{${labels}} `))
          ?.split(" ")[1],
      );
    const good = 'method="GET",route="/a/{id}",status="200"';
    const bucket = (le: string) => value("bucket", `le="${le}",${good}`);
    expect([bucket("0.005"), bucket("0.01"), bucket("1"), bucket("2.5")]).toEqual([2, 3, 3, 4]);
    expect([bucket("30"), bucket("+Inf"), value("count", good)]).toEqual([4, 5, 5]);
    expect(value("sum", good)).toBeCloseTo(33.012, 6);
    expect(value("count", 'method="GET",route="/a/{id}",status="404"')).toBe(1);
    expect(value("count", 'method="other",route="/a/{id}",status="405"')).toBe(2);
    expect(text.match(/^# TYPE /gm)).toHaveLength(1);
  });
});
