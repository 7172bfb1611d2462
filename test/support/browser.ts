/** As much of a browser as a sign-in needs: it keeps cookies by host and port and follows redirects. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** One request, its cookies kept, its redirect not followed. */
  async request(url: string, init: RequestInit = {}): Promise<Response> {
    const jar = this.#jar(url);
    const headers = new Headers(init.headers);
    headers.set("cookie", [...jar].map(([name, value]) => `${name}=${value}`).join("; "));
    const signal = AbortSignal.timeout(20_000);
    const response = await fetch(url, { ...init, headers, redirect: "manual", signal });
    for (const line of response.headers.getSetCookie()) keep(jar, line);
    return response;
  }

  /** Goes on from `response`, which `url` gave, until a page or an address that `stop` knows. */
  async follow(
    url: string,
    response: Response,
    stop: (url: string) => boolean = () => false,
  ): Promise<{ url: string; response: Response }> {
    for (let hops = 0; hops < 10; hops += 1) {
      const location = response.headers.get("location");
      if (location === null) return { url, response };
      url = new URL(location, url).href;
      if (stop(url)) return { url, response };
      response = await this.request(url);
    }
    throw new Error("The browser goes round in circles.");
  }

  post(url: string, fields: Record<string, string>): Promise<Response> {
    return this.request(url, { method: "POST", body: new URLSearchParams(fields) });
  }

  forget(url: string): void {
    this.#jar(url).clear();
  }

  #jar(url: string): Map<string, string> {
    const { host } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    return jar;
  }
}

function keep(jar: Map<string, string>, line: string): void {
  const [pair = ""] = line.split(";");
  const at = pair.indexOf("=");
  const value = pair.slice(at + 1);
  if (value === "" || /expires=thu, 01 jan 1970/i.test(line)) jar.delete(pair.slice(0, at));
  else jar.set(pair.slice(0, at), value);
}
