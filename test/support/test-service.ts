/** What tests need of a running service, whether it is a whole installation or in their own process. */
export interface TestService {
  /** Below which its data folder `data` lies. */
  readonly folder: string;
  /** Address of the REST API. */
  readonly api: string;
  readonly ready: {
    readonly base_url: string;
    readonly live_url: string;
    readonly ops_url: string;
    readonly grpc_sessions: string;
    readonly admin: { readonly email: string; readonly password: string };
  };
  /** Lines of a part's log, parsed. */
  log(part: "main" | "worker"): Promise<{ level: string; msg: string }[]>;
  stop(): Promise<void>;
}
