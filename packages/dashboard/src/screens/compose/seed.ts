import type { PostDetail } from "@postrider/client";
import { type Draft, type DraftMedia, partsOf, textFor } from "./draft.ts";
import { whenAt } from "./when.ts";

/** What an address proposes for a new post. */
export interface Seed {
  readonly text?: string | undefined;
  readonly accountIds: readonly string[];
  /** An instant, as the calendar proposes it. */
  readonly at?: string | undefined;
  /** A post to begin from; with one account, what that account got. */
  readonly from?: string | undefined;
  readonly accountId?: string | undefined;
}

function list(value: string | null): readonly string[] {
  return value === null ? [] : value.split(",").filter((id) => id !== "");
}

/** `?text=&accounts=a,b&at=INSTANT`, or `?from=POST&account=a` */
export function readSeed(search: string): Seed {
  const query = new URLSearchParams(search);
  return {
    text: query.get("text") ?? undefined,
    accountIds: list(query.get("accounts")),
    at: query.get("at") ?? undefined,
    from: query.get("from") ?? undefined,
    accountId: query.get("account") ?? undefined,
  };
}

/** The name of the draft: what begins from another post does not replace what is being written. */
export function slotOf({ from, accountId }: Seed): string {
  return from === undefined ? "new" : `from.${from}.${accountId ?? "all"}`;
}

interface Known {
  readonly zone: string;
  readonly post?: PostDetail | undefined;
  readonly media: readonly DraftMedia[];
}

/** Adds what the address proposes; what was written already stays. */
export function withSeed(draft: Draft, seed: Seed, { zone, post, media }: Known): Draft {
  const begun = post === undefined ? draft : fromPost(draft, post, seed.accountId);
  const known = new Set(begun.media.map(({ id }) => id));
  return {
    ...begun,
    text: begun.text === "" ? (seed.text ?? "") : begun.text,
    accountIds: begun.accountIds.length === 0 ? seed.accountIds : begun.accountIds,
    media: [...begun.media, ...media.filter(({ id }) => !known.has(id))],
    when: timeOf(seed.at, zone) ?? begun.when,
  };
}

function fromPost(draft: Draft, post: PostDetail, accountId: string | undefined): Draft {
  if (draft.keptAt > 0) return draft;
  const parts = partsOf(post);
  if (accountId === undefined) return { ...draft, ...parts };
  // For one account its own text is the text of the post; title and the rest stay its own part.
  const { content: _content, ...rest } = parts.own[accountId] ?? {};
  const own = Object.keys(rest).length === 0 ? {} : { [accountId]: rest };
  return { ...draft, ...parts, text: textFor(parts, accountId), accountIds: [accountId], own };
}

function timeOf(at: string | undefined, zone: string) {
  if (at === undefined) return undefined;
  try {
    return whenAt(at, zone);
  } catch {
    return undefined;
  }
}
