export function isOn(text: string | undefined): boolean;
export function knownSettings(): string[];
export function unknownNames(names: readonly string[], known: readonly string[]): string[];
