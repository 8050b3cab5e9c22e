import type { Store } from "#src/store/store.ts";
import type { Table } from "#src/store/table.ts";

export interface SettingValues {
  /**
   * Whether the simulated platforms apply their rate limits, their daily limits and their limits on
   * media containers.
   */
  readonly quotas: boolean;
  /** Delay of every response of the simulated platforms, in milliseconds. */
  readonly latencyMs: number;
  /**
   * What an OAuth authorization page does: ask the user, approve every request (for a new account),
   * or deny every request.
   */
  readonly authorize: "ask" | "approve" | "deny";
  /**
   * Whether the platforms have audited the apps that publish. When an app without an audit uploads
   * a video, YouTube makes the video private.
   */
  readonly audited: boolean;
  /** How long the insights of Facebook and Instagram lag behind a post's real metrics, in milliseconds. */
  readonly insightsLagMs: number;
  /**
   * Size in bytes up to which TikTok refuses a video in several chunks, as the real TikTok does since 2026-08-09. With 0,
   * the simulator accepts every division into chunks that TikTok documents.
   */
  readonly tiktokWholeVideoBytes: number;
  /** Maximum number of calls of Facebook and of Instagram for one account in 24 hours: 4,800 for each engaged user. */
  readonly graphCallsPerDay: number;
  /** Shape of Instagram Login's response with a short-lived token (one hour): an object, or a list `data` with one object. */
  readonly instagramTokenShape: "object" | "list";
  /**
   * Whether Instagram refuses reads of containers and posts with a Page's token (error 100/33), as it does for some accounts
   * since 2026-05-23. Creating, publishing and listing still work.
   */
  readonly instagramPageTokenReads: "allowed" | "refused";
  /**
   * Which permissions the Facebook app may ask for: all, or those for publishing, as for real apps that are now created
   * by use case. The login dialog then refuses the whole request if the request contains any other permission.
   */
  readonly facebookApp: "all" | "publishing";
  /**
   * Which names of the fields of posts X takes: the old and the new ones, or only the new ones (`post.fields`), as X's OpenAPI
   * document describes since 2026-08.
   */
  readonly xFieldNames: "both" | "new";
  /** Maximum number of posts and replies of one user at X in 24 hours; X's help pages say 2,400. */
  readonly xUserPostsPerDay: number;
  /** Maximum number of posts and replies of the app at X in 24 hours, over all users. */
  readonly xAppPostsPerDay: number;
  /** Whether the app has reached its usage cap of the month at X; then X refuses every call. */
  readonly xUsageCap: "open" | "reached";
  /** Number of posts that other apps published for each TikTok account in the last 24 hours; they count for TikTok's limit of 15. */
  readonly tiktokPostsOfOtherApps: number;
  /** Whether Facebook refuses all videos of Pages because the app has no permission to publish them. */
  readonly facebookVideos: "allowed" | "refused";
  /**
   * Maximum number of hashtags that Instagram takes: 30 by its documents, 5 by its announcement of 2025-12, which may hold for
   * the API too.
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
