export interface FoundBrowser {
  program: string;
  env: Record<string, string>;
}
export function findBrowser(env?: NodeJS.ProcessEnv): FoundBrowser | undefined;
export function installBrowser(step: {
  note(text: string): void;
}): Promise<FoundBrowser | undefined>;
