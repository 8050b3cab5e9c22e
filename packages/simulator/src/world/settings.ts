import type { Store, Table } from "#src/store/store.ts";

const FLAGS = {
  quotas: true,
  /** Without an audit, YouTube makes uploaded videos private. */
  audited: true,
};

const NUMBERS = {
  latencyMs: 0,
  insightsLagMs: 0,
  /**
   * TikTok refuses a smaller video in several chunks since 2026-08-09. With 0, it accepts every
   * documented division.
   */
  tiktokWholeVideoBytes: 64_000_000,
  /** Quota of one account; Meta allows 4,800 for each engaged user. */
  graphCallsPerDay: 4800,
  /** X's help pages say 2,400. */
  xUserPostsPerDay: 2400,
  xAppPostsPerDay: 10_000,
  /** They count for TikTok's limit of 15. */
  tiktokPostsOfOtherApps: 0,
  /**
   * 30 by Instagram's documents, 5 by its announcement of 2025-12, which may hold for the API too.
   */
  instagramHashtags: 30,
};

/** The first of each is the default. */
const CHOICES = {
  authorize: ["ask", "approve", "deny"],
  /** An object, or a list `data` with one object. */
  instagramTokenShape: ["object", "list"],
  /**
   * Error 100/33, as for some accounts since 2026-05-23. Creating, publishing and listing still
   * work.
   */
  instagramPageTokenReads: ["allowed", "refused"],
  /**
   * Apps are now created by use case; the login dialog refuses a request with any other permission.
   */
  facebookApp: ["all", "publishing"],
  /** X's OpenAPI document describes the new names (`post.fields`) since 2026-08. */
  xFieldNames: ["both", "new"],
  /** When it is reached, X refuses every call. */
  xUsageCap: ["open", "reached"],
  facebookVideos: ["allowed", "refused"],
  /**
   * Whether Facebook and X refuse a post that repeats the text or the photos of an earlier one.
   * They do not say for how long they do, so no proof that posts are published once may rest on it.
   */
  repeatedPosts: ["refused", "accepted"],
} as const;

type Choices = { readonly [Name in keyof typeof CHOICES]: (typeof CHOICES)[Name][number] };

export type SettingValues = Readonly<typeof FLAGS> & Readonly<typeof NUMBERS> & Choices;

function mapped(values: object, change: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}

// Each setting has its first choice.
const DEFAULTS = {
  ...FLAGS,
  ...NUMBERS,
  ...mapped(CHOICES, (choices) => (choices as readonly string[])[0]),
} as SettingValues;

/** The JSON Schema of each setting. */
export const SETTING_SCHEMAS = {
  ...mapped(FLAGS, () => ({ type: "boolean" })),
  ...mapped(NUMBERS, () => ({ type: "integer", minimum: 0 })),
  ...mapped(CHOICES, (choices) => ({ enum: choices })),
};

export class Settings {
  readonly #row: Table<SettingValues>;

  constructor(store: Store) {
    this.#row = store.table<SettingValues>("settings");
  }

  get values(): SettingValues {
    return { ...DEFAULTS, ...this.#row.get("values") };
  }

  change(part: Partial<SettingValues>): SettingValues {
    const values = { ...this.values, ...part };
    this.#row.put("values", values);
    return values;
  }
}
