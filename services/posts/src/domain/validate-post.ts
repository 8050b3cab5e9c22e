import { isPlatformId } from "@postrider/platforms/platform-id";
import { createTextCounter, type TextCounter } from "@postrider/platforms/text/text";
import type { Violation } from "@postrider/shared/errors";
import { effectiveContent, findOptionKey } from "./effective-content.ts";
import type {
  PostAccount,
  PostContent,
  PostMedia,
  PostOptions,
  TargetInput,
  TargetViolation,
} from "./post.ts";
import { validateTarget } from "./validate-target.ts";

/** What does not exist, or belongs to another workspace, is missing. */
export interface PostReferences {
  readonly accounts: ReadonlyMap<string, PostAccount>;
  readonly media: ReadonlyMap<string, PostMedia>;
  /** Platforms that this installation can publish to. */
  readonly available: ReadonlySet<string>;
  /** Keeps what was counted in the texts, so that a second validation counts nothing again. */
  readonly count?: TextCounter;
}

/**
 * Yields after each account: texts of 256 KiB can take longer than other requests should wait.
 * Paths are JSON Pointers into the request.
 */
export function* validatePost(
  post: PostContent,
  known: PostReferences,
): Generator<void, Violation[]> {
  const accounts = post.accountIds.flatMap((id) => known.accounts.get(id) ?? []);
  const mediaFaults = validateMediaIds(post.mediaIds, known.media);
  const media = post.mediaIds.flatMap((id) => known.media.get(id) ?? []);
  const counter = known.count ?? createTextCounter();
  const violations = [
    ...validateAccounts(post.accountIds, known),
    ...mediaFaults,
    ...validateOptionKeys(post, accounts),
  ];
  for (const account of accounts) {
    const found = validateTarget(toTarget(post, account, media), counter)
      // When single media items have faults, the platform's rules for the whole list of media are
      // not checked, because the list is incomplete.
      .filter(({ field, code }) => mediaFaults.length === 0 || !dependsOnMedia(field, code));
    violations.push(...found.map((violation) => toViolation(violation, post.options, account)));
    yield;
  }
  return violations;
}

/**
 * Only what does not exist: platforms' rules are checked when the draft is scheduled or published.
 * `known.accounts` includes those that are keys of its options.
 */
export function validateDraft(
  post: PostContent,
  known: Pick<PostReferences, "accounts" | "media">,
): Violation[] {
  const unknownAccounts = post.accountIds.flatMap((accountId, index): Violation[] =>
    known.accounts.has(accountId)
      ? []
      : [{ code: "unknown_account", path: `/accountIds/${index}`, accountId }],
  );
  const unknownMedia = post.mediaIds.flatMap((id, index): Violation[] =>
    known.media.has(id) ? [] : [{ code: "unknown_media", path: `/mediaIds/${index}` }],
  );
  const unknownKeys = Object.keys(post.options)
    .filter((key) => !isPlatformId(key) && !known.accounts.has(key))
    .map((key) => ({ code: "unknown_option_key", path: `/options/${escapePointer(key)}` }));
  return [...unknownAccounts, ...unknownMedia, ...unknownKeys];
}

/** An earlier scheduled time counts as now: clocks differ and requests take time. */
const GRACE_MS = 60_000;
const DAY_MS = 24 * 3_600_000;
/** How many days ahead a post may be scheduled. */
export const MAX_AHEAD_DAYS = 366;

/** Returns every reason why a post cannot be scheduled at a given time. */
export function validateSchedule(scheduledAt: Date, now: Date): Violation[] {
  const aheadMs = scheduledAt.getTime() - now.getTime();
  const path = "/scheduledAt";
  if (aheadMs < -GRACE_MS) return [{ code: "schedule_in_past", path }];
  if (aheadMs <= MAX_AHEAD_DAYS * DAY_MS) return [];
  return [
    { code: "schedule_too_far", path, limit: MAX_AHEAD_DAYS, actual: Math.ceil(aheadMs / DAY_MS) },
  ];
}

function validateAccounts(ids: readonly string[], known: PostReferences): Violation[] {
  return ids.flatMap((accountId, index): Violation[] => {
    const path = `/accountIds/${index}`;
    const account = known.accounts.get(accountId);
    if (account === undefined) return [{ code: "unknown_account", path, accountId }];
    const { platform } = account;
    const faults: Violation[] = [];
    if (account.status === "reconnect_required")
      faults.push({ code: "account_reconnect_required", path, accountId, platform });
    if (!known.available.has(platform))
      faults.push({ code: "platform_unavailable", path, accountId, platform });
    return faults;
  });
}

function validateMediaIds(
  ids: readonly string[],
  known: ReadonlyMap<string, PostMedia>,
): Violation[] {
  return ids.flatMap((id, index): Violation[] => {
    const path = `/mediaIds/${index}`;
    const media = known.get(id);
    if (media === undefined) return [{ code: "unknown_media", path }];
    return media.isReady ? [] : [{ code: "media_not_ready", path }];
  });
}

/** An option for no account and no platform of the post would have no effect. */
function validateOptionKeys(post: PostContent, accounts: readonly PostAccount[]): Violation[] {
  const used = new Set<string>([...post.accountIds, ...accounts.map(({ platform }) => platform)]);
  // When an account of the post does not exist, the option of a platform may be meant for that
  // account, so the option is not reported.
  const mayBeMeant = (key: string) => accounts.length < post.accountIds.length && isPlatformId(key);
  return Object.keys(post.options)
    .filter((key) => !used.has(key) && !mayBeMeant(key))
    .map((key) => ({ code: "unknown_option_key", path: `/options/${escapePointer(key)}` }));
}

function toTarget(
  post: PostContent,
  { id, platform, settings, traits, available }: PostAccount,
  media: readonly PostMedia[],
): TargetInput {
  const content = effectiveContent(post.content, post.options, { accountId: id, platform });
  return { ...content, platform, traits, media, settings, available };
}

function dependsOnMedia(field: string, code: string): boolean {
  return field === "media" || code === "content_required";
}

function toViolation(
  { code, limit, actual, unit, found, fits, ...where }: TargetViolation,
  options: PostOptions,
  account: PostAccount,
): Violation {
  return {
    code,
    path: pathOf(where, options, account),
    accountId: account.id,
    platform: account.platform,
    ...(limit === undefined ? {} : { limit }),
    ...(actual === undefined ? {} : { actual }),
    ...(unit === undefined ? {} : { unit }),
    ...(found === undefined ? {} : { found }),
    ...(fits === undefined ? {} : { allowed: [fits].flat() }),
  };
}

/** The JSON Pointer to an invalid value, or to the place where a missing one can be added. */
function pathOf(
  { field, index }: Pick<TargetViolation, "field" | "index">,
  options: PostOptions,
  { id, platform }: PostAccount,
): string {
  if (field === "media") return index === undefined ? "/mediaIds" : `/mediaIds/${index}`;
  const key = findOptionKey(options, { accountId: id, platform }, field);
  if (key === undefined && field === "content") return "/content";
  const path = `/options/${escapePointer(key ?? platform)}/${field}`;
  return index === undefined ? path : `${path}/${index}`;
}

/** Escapes a token of a JSON Pointer (RFC 6901, section 3). */
function escapePointer(token: string): string {
  return token.replaceAll("~", "~0").replaceAll("/", "~1");
}
