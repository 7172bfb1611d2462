import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

export interface Person {
  email: string;
  email_verified: boolean;
  name: string;
}

const CLIENT = { id: "voice", secret: "a secret of the provider and us" };

/** A real OpenID Connect provider; whoever logs in as `login` is `people.get(login)`. */
export class IdentityProvider {
  readonly people = new Map<string, Person>();
  readonly issuer: string;
  readonly client = CLIENT;
  readonly #server: Server;

  private constructor(server: Server, redirectUri: string, idTokenHasAll: boolean) {
    this.#server = server;
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          redirect_uris: [redirectUri],
          token_endpoint_auth_method: "client_secret_post",
        },
      ],
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
      conformIdTokenClaims: !idTokenHasAll,
      cookies: { keys: ["only for this test"] },
      pkce: { required: () => true },
      findAccount: (_context, login) => ({
        accountId: login,
        claims: () => ({ sub: login, ...this.people.get(login) }),
      }),
    });
    server.on("request", provider.callback());
  }

  static async start(redirectUri: string, idTokenHasAll = false): Promise<IdentityProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    return new IdentityProvider(server, redirectUri, idTokenHasAll);
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}
