export function wireIsCurrent(): boolean;
export function generateWire(): Promise<void>;
