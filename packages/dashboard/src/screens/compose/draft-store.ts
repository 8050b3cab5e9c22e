import { DRAFTS } from "../../session/kept-texts.ts";
import { type Draft, type DraftMedia, withReadyMedia } from "./draft.ts";

type Storage = Pick<globalThis.Storage, "getItem" | "setItem" | "removeItem">;

/**
 * Drafts lie in this browser, by workspace and by the post that is edited ("new" for one that does
 * not exist yet). Only what was written is kept, never a key or an address of a file.
 */
export function draftName(workspaceId: string, slot: string): string {
  return `${DRAFTS}${workspaceId}.${slot}`;
}

export function readDraft(storage: Storage, name: string): Draft | undefined {
  try {
    return parseDraft(storage.getItem(name));
  } catch {
    return undefined;
  }
}

/** Undefined for what another version of the page wrote, and for no draft. */
export function parseDraft(text: string | null): Draft | undefined {
  if (text === null) return undefined;
  const draft = JSON.parse(text) as Partial<Draft>;
  const isWhole =
    typeof draft.key === "string" &&
    typeof draft.text === "string" &&
    Array.isArray(draft.accountIds) &&
    Array.isArray(draft.media) &&
    typeof draft.own === "object" &&
    typeof draft.when?.zone === "string";
  return isWhole ? (draft as Draft) : undefined;
}

/** False when the browser keeps nothing: then the page must say so. */
export function keepDraft(storage: Storage, name: string, draft: Draft): boolean {
  try {
    storage.setItem(name, JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

/** For a file that is ready while no screen shows its draft. A draft that was sent takes none. */
export function keepReadyMedia(
  storage: Storage,
  name: string,
  media: DraftMedia,
  orders: ReadonlyMap<string, number>,
): void {
  const draft = readDraft(storage, name);
  if (draft === undefined) return;
  keepDraft(storage, name, { ...withReadyMedia(draft, media, orders), keptAt: Date.now() });
}

/** When a composer is left before anything was written; else each one would stay for ever. */
export function dropUnwritten(storage: Storage, name: string): void {
  if (readDraft(storage, name)?.keptAt === 0) dropDraft(storage, name);
}

export function dropDraft(storage: Storage, name: string): void {
  try {
    storage.removeItem(name);
  } catch {
    // Nothing was kept.
  }
}
