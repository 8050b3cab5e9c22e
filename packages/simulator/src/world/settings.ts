import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

export interface SettingValues {
  readonly quotas: boolean;
  readonly latencyMs: number;
  readonly authorize: "ask" | "approve" | "deny";
  /** Without an audit, YouTube makes uploaded videos private. */
  readonly audited: boolean;
  readonly insightsLagMs: number;
  /**
   * TikTok refuses a smaller video in several chunks since 2026-08-09. With 0, it accepts every
   * documented division.
   */
  readonly tiktokWholeVideoBytes: number;
  /**
   * Maximum number of calls of Facebook and of Instagram for one account in 24 hours: 4,800 for
   * each engaged user.
   */
  readonly graphCallsPerDay: number;
  /**
   * Shape of Instagram Login's response with a short-lived token (one hour): an object, or a list
   * `data` with one object.
   */
  readonly instagramTokenShape: "object" | "list";
  /**
   * Error 100/33, as for some accounts since 2026-05-23. Creating, publishing and listing still
   * work.
   */
  readonly instagramPageTokenReads: "allowed" | "refused";
  /**
   * Apps are now created by use case; the login dialog refuses a request with any other permission.
   */
  readonly facebookApp: "all" | "publishing";
  /** X's OpenAPI document describes the new names (`post.fields`) since 2026-08. */
  readonly xFieldNames: "both" | "new";
  /** Maximum number of posts and replies of one user at X in 24 hours; X's help pages say 2,400. */
  readonly xUserPostsPerDay: number;
  readonly xAppPostsPerDay: number;
  readonly xUsageCap: "open" | "reached";
  /** They count for TikTok's limit of 15. */
  readonly tiktokPostsOfOtherApps: number;
  readonly facebookVideos: "allowed" | "refused";
  /**
   * 30 by Instagram's documents, 5 by its announcement of 2025-12, which may hold for the API too.
   */
  readonly instagramHashtags: number;
}

const DEFAULTS: SettingValues = {
  quotas: true,
  latencyMs: 0,
  authorize: "ask",
  audited: true,
  insightsLagMs: 0,
  tiktokWholeVideoBytes: 64_000_000,
  graphCallsPerDay: 4800,
  instagramTokenShape: "object",
  instagramPageTokenReads: "allowed",
  facebookApp: "all",
  xFieldNames: "both",
  xUserPostsPerDay: 2400,
  xAppPostsPerDay: 10_000,
  xUsageCap: "open",
  tiktokPostsOfOtherApps: 0,
  facebookVideos: "allowed",
  instagramHashtags: 30,
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
