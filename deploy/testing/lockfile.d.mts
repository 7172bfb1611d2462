interface LockedPackage {
  integrity?: string;
  resolved?: string;
  link?: boolean;
  inBundle?: boolean;
}

export function lockfileFaults(lock: { packages: Record<string, LockedPackage> }): string[];
export function settingsFaults(text: string): string[];
