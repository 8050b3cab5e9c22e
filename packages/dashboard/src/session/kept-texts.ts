type TextStorage = Pick<Storage, "key" | "length" | "getItem" | "removeItem">;

/** Texts that were not sent lie in this browser, by workspace. */
export const DRAFTS = "postrider.draft.";
export const REPLIES = "postrider.replies.";

function namesIn(storage: TextStorage): readonly string[] {
  const names = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "");
  return names.filter((name) => name.startsWith(DRAFTS) || name.startsWith(REPLIES));
}

function isWritten(name: string, text: string): boolean {
  const kept = JSON.parse(text) as { readonly keptAt?: number };
  if (name.startsWith(DRAFTS)) return (kept.keptAt ?? 0) > 0;
  return Object.values(kept as Record<string, { readonly text?: string }>).some(
    (reply) => (reply.text ?? "") !== "",
  );
}

/** Whether something that a person wrote would be missed. */
export function hasTexts(storage: TextStorage): boolean {
  try {
    return namesIn(storage).some((name) => isWritten(name, storage.getItem(name) ?? "{}"));
  } catch {
    return false;
  }
}

/** So that the next person at this computer cannot read them. */
export function dropTexts(storage: TextStorage): void {
  try {
    for (const name of namesIn(storage)) storage.removeItem(name);
  } catch {
    // Nothing was kept.
  }
}
