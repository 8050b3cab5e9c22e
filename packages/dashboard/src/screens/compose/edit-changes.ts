import type { PostDetail } from "@postrider/client";
import { type Draft, partsOf, type PostContent, toContent } from "./draft.ts";
import { scheduledAtOf, whenAt } from "./when.ts";

export interface PostChanges extends Partial<PostContent> {
  readonly scheduledAt?: string;
}

export type Part = "text" | "accounts" | "media" | "own" | "time";

/** What a post would be for the API, to compare it with what is written. */
function contentOf(post: PostDetail): PostContent {
  const { text, accountIds, media, own } = partsOf(post);
  return toContent({ text, accountIds, media, own } as unknown as Draft);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

/** The order of keys says nothing. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([key, inner]) => [key, sorted(inner)]);
}

/** The composer shows and reads minutes, so the seconds of a post that is not moved stay. */
function isSameTime({ scheduledAt }: PostDetail, { when }: Draft): boolean {
  if (scheduledAt === null) return false;
  return scheduledAtOf(whenAt(scheduledAt, when.zone)) === scheduledAtOf(when);
}

/** Options of no account of the post: those of a platform, which an account that is added gets. */
function hasUnseenOptions({ options }: PostDetail, accountIds: readonly string[]): boolean {
  return Object.keys(options).some((key) => !accountIds.includes(key));
}

/** The fields of a post that were changed; only these are sent, so that others stay as they are. */
export function changesOf(post: PostDetail, draft: Draft): PostChanges {
  const before = contentOf(post);
  const after = toContent(draft);
  const ids = (list: readonly string[]) => [...list].toSorted();
  const isForSame = isSame(ids(before.accountIds), ids(after.accountIds));
  const isWithSame =
    isSame(before.options, after.options) &&
    (isForSame || !hasUnseenOptions(post, before.accountIds));
  const scheduledAt = scheduledAtOf(draft.when);
  return {
    ...(before.content === after.content ? {} : { content: after.content }),
    ...(isForSame ? {} : { accountIds: after.accountIds }),
    ...(isSame(before.mediaIds, after.mediaIds) ? {} : { mediaIds: after.mediaIds }),
    ...(isWithSame ? {} : { options: after.options }),
    ...(scheduledAt === undefined || isSameTime(post, draft) ? {} : { scheduledAt }),
  };
}

const PARTS: Readonly<Record<keyof PostChanges, Part>> = {
  content: "text",
  accountIds: "accounts",
  mediaIds: "media",
  options: "own",
  scheduledAt: "time",
};

/** Where two versions of a post differ. */
export function differingParts(theirs: PostDetail, mine: Draft): readonly Part[] {
  return Object.keys(changesOf(theirs, mine)).map((field) => PARTS[field as keyof PostChanges]);
}
