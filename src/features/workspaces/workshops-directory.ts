import type { Page, PageRequest } from "../../rest/page.ts";

/** A body of work in a workspace, with the characters that appear in it. Times are Unix milliseconds. */
export interface WorkshopRecord {
  id: string;
  workspaceId: string;
  name: string;
  description: string;
  createdAt: number;
  updatedAt: number;
}

export interface CharacterRecord {
  id: string;
  workshopId: string;
  name: string;
  description: string;
  isActive: boolean;
  createdAt: number;
  updatedAt: number;
}

export interface WorkshopFilter {
  workspaceId?: string | undefined;
  /** Only of workspaces that this user belongs to. */
  memberId?: string | undefined;
}

/** Members that are absent stay as they are. */
export interface WorkshopChange {
  name?: string | undefined;
  description?: string | undefined;
}

export interface CharacterChange extends WorkshopChange {
  isActive?: boolean | undefined;
}

/** Port: workshops, newest first in lists. Every method throws `unavailable` when storage is away. */
export interface WorkshopDirectory {
  insert(workshop: Omit<WorkshopRecord, "createdAt" | "updatedAt">): Promise<WorkshopRecord>;
  find(id: string): Promise<WorkshopRecord | undefined>;
  list(filter: WorkshopFilter, page: PageRequest): Promise<Page<WorkshopRecord>>;
  /** Undefined, and nothing changed, when it went, or was changed after `since`. */
  change(id: string, change: WorkshopChange, since?: number): Promise<WorkshopRecord | undefined>;
  /** With its characters; sessions that were linked to it no longer are. */
  remove(id: string): Promise<void>;
}

/** Port: the characters of workshops, newest first in lists. Throws as the other. */
export interface CharacterDirectory {
  insert(character: Omit<CharacterRecord, "createdAt" | "updatedAt">): Promise<CharacterRecord>;
  find(workshopId: string, id: string): Promise<CharacterRecord | undefined>;
  list(
    workshopId: string,
    active: boolean | undefined,
    page: PageRequest,
  ): Promise<Page<CharacterRecord>>;
  /** Undefined, and nothing changed, when it went, or was changed after `since`. */
  change(id: string, change: CharacterChange, since?: number): Promise<CharacterRecord | undefined>;
  remove(id: string): Promise<void>;
}

/** Port: names to offer for the voices of a session. Throws as the others. */
export interface NameSuggestions {
  /** Of the active characters of the session's workshop; none without one. */
  namesFor(sessionId: string): Promise<string[]>;
}
