export function fetcherOf(
  uid: number | undefined,
  idOf?: (name: string) => Promise<number | undefined>,
): Promise<number | undefined>;

export function privateState(folder: string, fetcher: number | undefined): string[];
