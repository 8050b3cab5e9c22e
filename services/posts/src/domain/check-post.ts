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
import { validateTarget, validateTexts } from "./validate-target.ts";

/**
 * The accounts and media that a post refers to. An account or media item that does not exist, or belongs to another
 * workspace, is missing.
 */
export interface PostReferences {
  readonly accounts: ReadonlyMap<string, PostAccount>;
  readonly media: ReadonlyMap<string, PostMedia>;
  /** Platforms that this installation can publish to. */
  readonly available: ReadonlySet<string>;
  /** A counter that has already counted the texts of the post, see `countTexts`; absent = they are counted now. */
  readonly count?: TextCounter;
}

/**
 * Returns every reason to refuse a post: unknown accounts, invalid media and option keys, and everything that the
 * platform of a target would refuse. Paths are JSON Pointers into the request.
 */
export function checkPost(post: PostContent, known: PostReferences): Violation[] {
  const accounts = post.accountIds.flatMap((id) => known.accounts.get(id) ?? []);
  const mediaFaults = checkMedia(post.mediaIds, known.media);
  const media = post.mediaIds.flatMap((id) => known.media.get(id) ?? []);
  const counter = known.count ?? createTextCounter();
  return [
    ...checkAccounts(post.accountIds, known),
    ...mediaFaults,
    ...checkOptionKeys(post, accounts),
    ...accounts.flatMap((account) =>
      checkTarget(post, account, media, counter)
        // When single media items have faults, the platform's rules for the whole list of media are not checked,
        // because the list is incomplete.
        .filter(({ field, code }) => mediaFaults.length === 0 || !dependsOnMedia(field, code))
        .map((violation) => toViolation(violation, post.options, account)),
    ),
  ];
}

/**
 * Counts the texts of a post for the targets of one account after another, so that `checkPost` takes the numbers from the counter.
 * The caller may do other work between two steps: texts of 256 KiB can take longer than other requests should wait.
 */
export function* countTexts(
  post: PostContent,
  { accounts, media }: Pick<PostReferences, "accounts" | "media">,
  counter: TextCounter,
): Generator<void> {
  const attached = post.mediaIds.flatMap((id) => media.get(id) ?? []);
  for (const id of post.accountIds) {
    const account = accounts.get(id);
    if (account === undefined) continue;
    validateTexts(toTarget(post, account, attached), counter);
    yield;
  }
}

/**
 * Returns every reason to refuse a draft: accounts, media and option keys that do not exist. The rules of platforms are
 * checked only when the draft is scheduled or published.
 *
 * @param known.accounts The accounts of the draft and the accounts that are keys of its options.
 */
export function checkDraft(
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

function checkAccounts(ids: readonly string[], known: PostReferences): Violation[] {
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

function checkMedia(ids: readonly string[], known: ReadonlyMap<string, PostMedia>): Violation[] {
  return ids.flatMap((id, index): Violation[] => {
    const path = `/mediaIds/${index}`;
    const media = known.get(id);
    if (media === undefined) return [{ code: "unknown_media", path }];
    return media.isReady ? [] : [{ code: "media_not_ready", path }];
  });
}

/**
 * Reports keys of a post's options that name no account and no platform of the post, because such an option would have
 * no effect.
 */
function checkOptionKeys(post: PostContent, accounts: readonly PostAccount[]): Violation[] {
  const used = new Set<string>([...post.accountIds, ...accounts.map(({ platform }) => platform)]);
  // When an account of the post does not exist, the option of a platform may be meant for that account, so the option
  // is not reported.
  const mayBeMeant = (key: string) => accounts.length < post.accountIds.length && isPlatformId(key);
  return Object.keys(post.options)
    .filter((key) => !used.has(key) && !mayBeMeant(key))
    .map((key) => ({ code: "unknown_option_key", path: `/options/${escapePointer(key)}` }));
}

function checkTarget(
  post: PostContent,
  account: PostAccount,
  media: readonly PostMedia[],
  counter: TextCounter,
): TargetViolation[] {
  return validateTarget(toTarget(post, account, media), counter);
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

/**
 * Returns the JSON Pointer to an invalid value in the request or, if the value is missing, to the place where it can be
 * added.
 */
function pathOf(
  { field, index }: Pick<TargetViolation, "field" | "index">,
  options: PostOptions,
  { id, platform }: PostAccount,
): string {
  if (field === "media") return index === undefined ? "/mediaIds" : `/mediaIds/${index}`;
  const key = findOptionKey(options, { accountId: id, platform }, field);
  if (key === undefined && field === "content") return "/content";
  return `/options/${escapePointer(key ?? platform)}/${field}`;
}

/** Escapes a token of a JSON Pointer (RFC 6901, section 3). */
function escapePointer(token: string): string {
  return token.replaceAll("~", "~0").replaceAll("/", "~1");
}
