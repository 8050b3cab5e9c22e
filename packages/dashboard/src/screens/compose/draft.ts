import type { PostDetail, PostOption } from "@postrider/client";
import { createKey, isKeySpent } from "../../api/sending.ts";
import type { When } from "./when.ts";

/** What is kept of a file: enough to show its name and to send its id, and no signed address. */
export interface DraftMedia {
  readonly id: string;
  readonly kind: "image" | "video";
  readonly fileName: string;
  readonly altText: string | null;
}

/** What one account gets in place of what all get; what is undefined is as all get it. */
export type OwnPart = { readonly [F in keyof PostOption]: PostOption[F] | undefined };

/**
 * A post while it is written. `key` is its `Idempotency-Key`, made with the draft: whatever sends
 * it, again after a lost answer, after a reload or from a second tab, makes one post.
 */
export interface Draft {
  readonly key: string;
  readonly text: string;
  readonly accountIds: readonly string[];
  readonly media: readonly DraftMedia[];
  /** By account id. Parts of accounts that are not chosen are kept, and not sent. */
  readonly own: Readonly<Record<string, OwnPart>>;
  readonly when: When;
  /** Requests that were sent and whose answer has not come: one of them may have been accepted. */
  readonly attempts?: readonly string[] | undefined;
  /** When the first of them was sent, in ms since 1970. */
  readonly sentAt?: number | undefined;
  /** The version of the post that is edited. */
  readonly etag?: string | undefined;
  /** When it was last changed, in ms since 1970; 0 while nothing has been written. */
  readonly keptAt: number;
}

export function emptyDraft(when: When): Draft {
  return { key: createKey(), text: "", accountIds: [], media: [], own: {}, when, keptAt: 0 };
}

export function withAttempts(draft: Draft, attempts: readonly string[], now = Date.now()): Draft {
  const sentAt = attempts.length === 0 ? undefined : (draft.sentAt ?? now);
  return { ...draft, attempts, sentAt };
}

/** Whether a request has no answer, and its key no longer prevents a second post. */
export function isOutdated({ attempts = [], sentAt }: Draft, now = Date.now()): boolean {
  return attempts.length > 0 && isKeySpent(sentAt, now);
}

/** The same text as another post, which nothing that was sent before can be taken for. */
export function asAnother(draft: Draft): Draft {
  return { ...withAttempts(draft, []), key: createKey() };
}

/** What all parts of a post but its time are for the API. */
export interface PostContent {
  readonly content: string;
  readonly accountIds: string[];
  readonly mediaIds: string[];
  readonly options: Record<string, PostOption>;
}

/** Options without a value are left out, and those of accounts that are not chosen. */
export function toContent({ text, accountIds, media, own }: Draft): PostContent {
  const parts = accountIds.flatMap((id) => {
    const part = cleaned(own[id] ?? {});
    return Object.keys(part).length === 0 ? [] : [[id, part] as const];
  });
  return {
    content: text,
    accountIds: [...accountIds],
    mediaIds: media.map(({ id }) => id),
    options: Object.fromEntries(parts),
  };
}

function cleaned({ content, title, privacy, tags }: OwnPart): PostOption {
  return {
    ...(content === undefined ? {} : { content }),
    ...(title === undefined || title === "" ? {} : { title }),
    ...(privacy === undefined ? {} : { privacy }),
    ...(tags === undefined || tags.length === 0 ? {} : { tags }),
  };
}

export function textFor({ text, own }: Pick<Draft, "text" | "own">, accountId: string): string {
  return own[accountId]?.content ?? text;
}

/** What was written: the text for all, then those of single accounts. */
export function textsOf({ text, own }: Pick<Draft, "text" | "own">): readonly string[] {
  return [text, ...Object.values(own).flatMap(({ content }) => content ?? [])];
}

/** Changes what one account gets; a value that is undefined goes back to what all get. */
export function withOwn(draft: Draft, accountId: string, changes: OwnPart): Draft {
  const part = { ...draft.own[accountId], ...changes };
  return { ...draft, own: { ...draft.own, [accountId]: part } };
}

export function withoutOwn(draft: Draft, accountId: string): Draft {
  const { [accountId]: _part, ...own } = draft.own;
  return { ...draft, own };
}

/** Keeps the order of the list of accounts, whatever the order of the presses. */
export function withAccount(
  draft: Draft,
  accountId: string,
  isChosen: boolean,
  order: readonly string[],
): Draft {
  const chosen = new Set(draft.accountIds);
  if (isChosen) chosen.add(accountId);
  else chosen.delete(accountId);
  return { ...draft, accountIds: order.filter((id) => chosen.has(id)) };
}

export function withoutAccounts(draft: Draft, accountIds: readonly string[]): Draft {
  return { ...draft, accountIds: draft.accountIds.filter((id) => !accountIds.includes(id)) };
}

/**
 * Adds a file before those that were chosen after it and were ready earlier. Of those that were
 * there before there is no order.
 */
export function withReadyMedia(
  draft: Draft,
  added: DraftMedia,
  orders: ReadonlyMap<string, number>,
): Draft {
  const order = orders.get(added.id) ?? Number.POSITIVE_INFINITY;
  const later = draft.media.findIndex(({ id }) => (orders.get(id) ?? 0) > order);
  const at = later === -1 ? draft.media.length : later;
  return { ...draft, media: draft.media.toSpliced(at, 0, added) };
}

export function moveMedia(draft: Draft, from: number, to: number): Draft {
  const media = [...draft.media];
  const [moved] = media.splice(from, 1);
  if (moved === undefined) return draft;
  media.splice(Math.max(0, Math.min(media.length, to)), 0, moved);
  return { ...draft, media };
}

/** Whether there is something that would be missed. */
export function isWritten({ text, media, own }: Draft): boolean {
  return text.trim() !== "" || media.length > 0 || Object.keys(own).length > 0;
}

type PostParts = Pick<PostDetail, "content" | "media" | "options" | "targets">;

/** What a post consists of. Parts for a platform become parts of each of its accounts. */
export function partsOf({ content, media, options, targets }: PostParts) {
  const own = targets.flatMap(({ accountId, platform }) => {
    const part = { ...options[platform], ...options[accountId] };
    return Object.keys(part).length === 0 ? [] : [[accountId, part] as const];
  });
  return {
    text: content,
    accountIds: targets.map(({ accountId }) => accountId),
    media: media.map(toDraftMedia),
    own: Object.fromEntries(own),
  };
}

export function toDraftMedia({ id, kind, fileName, altText }: DraftMedia): DraftMedia {
  return { id, kind, fileName, altText };
}
