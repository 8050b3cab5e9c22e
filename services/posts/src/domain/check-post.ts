import { isPlatformId } from "@postrider/platforms/registry";
import { createTextCounter, type TextCounter } from "@postrider/platforms/text/text";
import type { Violation } from "@postrider/shared/errors";
import { effectiveContent, findOptionKey } from "./effective-content.ts";
import type { PostAccount, PostMedia, PostOptions } from "./post.ts";
import type { TargetViolation } from "./target-violation.ts";
import { validateTarget } from "./validate-target.ts";

/** What a client asks to publish. */
export interface PostInput {
  readonly content: string;
  readonly accountIds: readonly string[];
  readonly mediaIds: readonly string[];
  readonly options: PostOptions;
}

/** What is known of the things that a post names; what does not exist, or is another workspace's, is missing. */
export interface PostSurroundings {
  readonly accounts: ReadonlyMap<string, PostAccount>;
  readonly media: ReadonlyMap<string, PostMedia>;
  /** Platforms that this installation can publish to. */
  readonly available: ReadonlySet<string>;
}

/**
 * Every reason to refuse a post, or none: accounts, media and option keys that do not fit, then what each target's
 * platform would refuse. Paths are JSON Pointers into the request.
 */
export function checkPost(input: PostInput, known: PostSurroundings): Violation[] {
  const accounts = input.accountIds.flatMap((id) => known.accounts.get(id) ?? []);
  const mediaFaults = checkMedia(input.mediaIds, known.media);
  const media = input.mediaIds.flatMap((id) => known.media.get(id) ?? []);
  const counter = createTextCounter();
  return [
    ...checkAccounts(input.accountIds, known),
    ...mediaFaults,
    ...checkOptionKeys(input, accounts),
    ...accounts.flatMap((account) =>
      checkTarget(input, account, media, counter)
        // What is wrong with the media itself has been said; the rules would judge a list with holes.
        .filter(({ field, code }) => mediaFaults.length === 0 || !dependsOnMedia(field, code))
        .map((violation) => toViolation(violation, input.options, account)),
    ),
  ];
}

/**
 * Every reason to refuse a draft, or none: what it names must exist. Whether a platform would take it is asked when it is
 * scheduled or published.
 *
 * @param known.accounts Those of the draft and of its options' keys.
 */
export function checkDraft(
  input: PostInput,
  known: Pick<PostSurroundings, "accounts" | "media">,
): Violation[] {
  const unknownAccounts = input.accountIds.flatMap((accountId, index): Violation[] =>
    known.accounts.has(accountId)
      ? []
      : [{ code: "unknown_account", path: `/accountIds/${index}`, accountId }],
  );
  const unknownMedia = input.mediaIds.flatMap((id, index): Violation[] =>
    known.media.has(id) ? [] : [{ code: "unknown_media", path: `/mediaIds/${index}` }],
  );
  const unknownKeys = Object.keys(input.options)
    .filter((key) => !isPlatformId(key) && !known.accounts.has(key))
    .map((key) => ({ code: "unknown_option_key", path: `/options/${escapePointer(key)}` }));
  return [...unknownAccounts, ...unknownMedia, ...unknownKeys];
}

function checkAccounts(ids: readonly string[], known: PostSurroundings): Violation[] {
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

/** An option that reaches no target would be lost without a word. */
function checkOptionKeys(input: PostInput, accounts: readonly PostAccount[]): Violation[] {
  const used = new Set<string>([...input.accountIds, ...accounts.map(({ platform }) => platform)]);
  // An account that does not exist has been reported; the option of a platform may have been meant for it.
  const mayBeMeant = (key: string) =>
    accounts.length < input.accountIds.length && isPlatformId(key);
  return Object.keys(input.options)
    .filter((key) => !used.has(key) && !mayBeMeant(key))
    .map((key) => ({ code: "unknown_option_key", path: `/options/${escapePointer(key)}` }));
}

function checkTarget(
  input: PostInput,
  account: PostAccount,
  media: readonly PostMedia[],
  counter: TextCounter,
): TargetViolation[] {
  const keys = { accountId: account.id, platform: account.platform };
  const content = effectiveContent(input.content, input.options, keys);
  return validateTarget({ ...content, platform: account.platform, media }, counter);
}

function dependsOnMedia(field: string, code: string): boolean {
  return field === "media" || code === "content_required";
}

function toViolation(
  { code, limit, actual, ...where }: TargetViolation,
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
  };
}

/** The place that the value came from or, where it is missing, a place where it could stand. */
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

/** RFC 6901, section 3. */
function escapePointer(token: string): string {
  return token.replaceAll("~", "~0").replaceAll("/", "~1");
}
