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
  /** How long the insights of Facebook and Instagram lag behind a post's counters, in milliseconds. */
  readonly insightsLagMs: number;
  /**
   * Size in bytes up to which TikTok refuses to receive a video in several chunks, as it does since
   * 2026-08-09. With 0 it accepts every division that its documentation allows.
   */
  readonly tiktokWholeVideoBytes: number;
  /** Shape of Instagram Login's answer with a token for an hour: an object, or a list `data` with one object. */
  readonly instagramTokenShape: "object" | "list";
  /**
   * Whether Instagram refuses reads of containers and posts with the token of a Page (error 100/33), as it does for some accounts
   * since 2026-05-23. Creating, publishing and listing still work.
   */
  readonly instagramPageTokenReads: "allowed" | "refused";
  /**
   * Which permissions the Facebook app may ask for: all, or only those for publishing, as apps that are made today by use case. The
   * dialog then refuses the whole request with any other permission.
   */
  readonly facebookApp: "all" | "publishing";
}

const DEFAULTS: SettingValues = {
  quotas: true,
  latencyMs: 0,
  authorize: "ask",
  audited: true,
  insightsLagMs: 0,
  tiktokWholeVideoBytes: 64_000_000,
  instagramTokenShape: "object",
  instagramPageTokenReads: "allowed",
  facebookApp: "all",
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
