import {
  type Account,
  type AccountSettings,
  type AccountSettingsPatch,
  type ErrorDetail,
  PostriderError,
} from "@postrider/client";

export type SettingName = keyof AccountSettingsPatch;

/** The values of each setting that has a few; the words of each are in `setting-words`. */
export const CHOICES = {
  imageFit: ["refuse", "pad", "crop"],
  replySettings: ["everyone", "following", "mentioned"],
  disclosure: ["none", "own_brand", "paid"],
  unlistedAs: ["only_me", "friends", "followers"],
  license: ["youtube", "creative_commons"],
  format: ["plain", "html"],
} as const satisfies { readonly [N in SettingName]?: readonly AccountSettingsPatch[N][] };

export type ChoiceName = keyof typeof CHOICES;

/** The settings of each platform, in the order of the drawer. */
export const SETTINGS: Readonly<Record<Account["platform"], readonly SettingName[]>> = {
  instagram: ["imageFit", "shareToFeed"],
  facebook: ["imageFit"],
  x: ["replySettings"],
  tiktok: ["allowComment", "allowDuet", "allowStitch", "disclosure", "unlistedAs", "autoAddMusic"],
  youtube: ["madeForKids", "notifySubscribers", "license", "categoryId", "playlistId"],
  telegram: ["format", "silent", "linkPreview"],
  bluesky: ["languages"],
};

/** What the drawer holds of each setting: as it is chosen, or as it is typed. */
export type SettingValues = Readonly<Partial<Record<SettingName, boolean | string>>>;

type Settings = Readonly<Record<string, boolean | string | null | readonly string[]>>;

export function valuesOf({ settings }: AccountSettings): SettingValues {
  const entries = Object.entries(settings as Settings).map(([name, value]) => [name, typed(value)]);
  return Object.fromEntries(entries) as SettingValues;
}

function typed(value: Settings[string] | undefined): boolean | string {
  if (typeof value === "boolean" || typeof value === "string") return value;
  return value?.join(", ") ?? "";
}

/** What was changed, as the interface takes it; an empty text resets a setting to its default. */
export function patchOf(before: SettingValues, after: SettingValues): AccountSettingsPatch {
  const changed = Object.entries(after).filter(
    ([name, value]) => value !== before[name as SettingName],
  );
  return Object.fromEntries(changed.map(([name, value]) => [name, sent(name, value)]));
}

function sent(name: string, value: boolean | string) {
  if (typeof value === "boolean") return value;
  const text = value.trim();
  if (text === "") return null;
  return name === "languages" ? text.split(/[\s,]+/u).filter(Boolean) : text;
}

/** A patch that resets each setting of a platform to its default. */
export function defaultsOf(platform: Account["platform"]): AccountSettingsPatch {
  return Object.fromEntries(SETTINGS[platform].map((name) => [name, null]));
}

/** What the platform lets the account do now, or undefined where it does not say it. */
function availableOf(read: AccountSettings) {
  return read.platform === "tiktok" ? (read.available ?? undefined) : undefined;
}

/** Whether the platform refuses a value of a setting now. */
export function isRefused(read: AccountSettings, name: SettingName, value: string): boolean {
  const available = availableOf(read);
  if (name === "unlistedAs")
    return available?.audiences?.every((audience) => audience !== value) ?? false;
  if (name !== "allowComment" && name !== "allowDuet" && name !== "allowStitch") return false;
  return available?.[name] === false;
}

export function maxVideoSeconds(read: AccountSettings): number | undefined {
  return availableOf(read)?.maxVideoSeconds ?? undefined;
}

/** What the server refused, by setting; undefined where a detail belongs to none. */
export function faultsByName(
  error: unknown,
  textOf: (detail: ErrorDetail) => string,
): ReadonlyMap<string, string> | undefined {
  if (!(error instanceof PostriderError) || error.details.length === 0) return undefined;
  const names = error.details.map(({ path }) => path?.split("/")[1]);
  if (names.includes(undefined)) return undefined;
  return new Map(error.details.map((detail, index) => [names[index] ?? "", textOf(detail)]));
}
