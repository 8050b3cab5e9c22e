import type { ErrorDetail, PlatformId } from "@postrider/client";

export type Place = "accounts" | "text" | "title" | "privacy" | "tags" | "media" | "time";

/** One thing to fix, with the place where it is fixed. */
export interface Fault {
  readonly code: string;
  readonly place: Place;
  readonly accountId?: string | undefined;
  readonly platform?: PlatformId | undefined;
  /** Whether the value is the account's own one, not what all get. */
  readonly isOwn: boolean;
  /** Of one file among the media. */
  readonly index?: number | undefined;
  readonly limit?: number | undefined;
  readonly actual?: number | undefined;
  readonly unit?: string | undefined;
  readonly found?: string | undefined;
  /** The server's sentence, for what the page has no words of its own for. */
  readonly message: string;
}

const FIELDS: Readonly<Record<string, Place>> = {
  content: "text",
  title: "title",
  privacy: "privacy",
  tags: "tags",
};

const ROOTS: Readonly<Record<string, Place>> = {
  content: "text",
  mediaIds: "media",
  scheduledAt: "time",
  accountIds: "accounts",
};

/** The place in the composer of a JSON Pointer into the request. */
export function toFault(detail: ErrorDetail): Fault {
  const { code, message, path = "", accountId, platform, limit, actual, unit, found } = detail;
  const [root = "", second, field = ""] = path.split("/").slice(1);
  const isOption = root === "options";
  const place = (isOption ? FIELDS[field] : ROOTS[root]) ?? "accounts";
  return {
    code,
    place,
    accountId,
    platform: platform as PlatformId | undefined,
    isOwn: isOption,
    index: place === "media" && second !== undefined ? Number(second) : undefined,
    limit,
    actual,
    unit,
    found,
    message,
  };
}

/** Known before the server is asked, which would refuse to look. */
export const NO_ACCOUNTS: Fault = {
  code: "no_accounts",
  place: "accounts",
  isOwn: false,
  message: "",
};

/** Of a platform that takes nothing but one video. */
const NEEDS_VIDEO = "needs_video";

interface Taker {
  readonly id: string;
  readonly rules: { readonly kinds: readonly string[] };
}

function takesVideosOnly({ rules }: Pick<Taker, "rules">): boolean {
  return rules.kinds.every((kind) => kind === "video" || kind === "short");
}

/**
 * One entry for each thing to fix. The server names every file that an account does not take; they
 * have one cure together, and pictures for a platform of videos are one thing, whatever is wrong
 * with each.
 */
export function gatherFaults(
  faults: readonly Fault[],
  writers: readonly Taker[],
): readonly Fault[] {
  const videoOnly = new Set(writers.filter(takesVideosOnly).map(({ id }) => id));
  const gathered = new Map<string, Fault>();
  for (const fault of faults) {
    const { accountId = "", place, index } = fault;
    const isVideo = place === "media" && videoOnly.has(accountId);
    const code = isVideo && TYPE_FAULTS.has(fault.code) ? NEEDS_VIDEO : fault.code;
    const part = accountId === "" ? index : undefined;
    const key = [code, accountId, place, part].join(" ");
    if (!gathered.has(key)) gathered.set(key, { ...fault, code });
  }
  return [...gathered.values()];
}

const TYPE_FAULTS = new Set([
  "media_type_unsupported",
  "media_required",
  "too_many_media",
  "too_few_media",
]);

/** What the button beside a fault does. */
export type Cure =
  | { readonly kind: "own_text"; readonly accountId: string }
  | { readonly kind: "go"; readonly place: Place; readonly accountId?: string | undefined }
  | { readonly kind: "leave_out"; readonly accountId: string }
  | { readonly kind: "remove_media"; readonly index: number }
  | { readonly kind: "take_away"; readonly field: "title" | "tags"; readonly accountId: string };

const UNSUPPORTED: Readonly<Record<string, "title" | "tags">> = {
  title_unsupported: "title",
  tags_unsupported: "tags",
};

/** Files that no account can take are removed; otherwise the account is left out. */
const FILE_FAULTS = new Set(["unknown_media", "media_not_ready"]);
const OWN_PLACES = new Set<Place>(["title", "privacy", "tags"]);

export function cureOf(fault: Fault): Cure {
  const { code, place, accountId, index } = fault;
  if (FILE_FAULTS.has(code) && index !== undefined) return { kind: "remove_media", index };
  if (accountId === undefined) return { kind: "go", place };
  const field = UNSUPPORTED[code];
  if (field !== undefined) return { kind: "take_away", field, accountId };
  return cureForAccount(fault, accountId);
}

function cureForAccount({ code, place, isOwn }: Fault, accountId: string): Cure {
  if (OWN_PLACES.has(place)) return { kind: "go", place, accountId };
  if (place !== "text") return { kind: "leave_out", accountId };
  if (isOwn) return { kind: "go", place, accountId };
  return code === "content_required" ? { kind: "go", place } : { kind: "own_text", accountId };
}

/** Faults that a tab shows: those of the account that are fixed on it. */
export function faultsOnTab(faults: readonly Fault[], accountId: string): readonly Fault[] {
  return faults.filter(
    (fault) =>
      fault.accountId === accountId &&
      (OWN_PLACES.has(fault.place) || (fault.place === "text" && fault.isOwn)),
  );
}

export function faultsOf(faults: readonly Fault[], accountId: string): readonly Fault[] {
  return faults.filter((fault) => fault.accountId === accountId);
}
