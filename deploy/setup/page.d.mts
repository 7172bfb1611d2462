export function pageIsCurrent(): boolean;
export function buildPage(): Promise<void>;
