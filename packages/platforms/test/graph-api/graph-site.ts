import type { CommentsConnector } from "#src/comments/connector.ts";
import type { MetricsConnector } from "#src/metrics/connector.ts";
import { createConnectors, type PublishingSettings } from "#src/platforms.ts";
import type { PrivateRepliesConnector } from "#src/private-replies/connector.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { AccountAccess, Publication } from "#src/publishing/publication.ts";
import { jpegMedia, type MediaServer } from "../media-server.ts";
import type { TestMedia } from "../test-media.ts";
import type { TestPlatform } from "../test-platform.ts";

/** The ways in which accounts of Facebook and Instagram are connected. */
export const LOGINS = ["facebook", "instagram", "instagram login"] as const;
export type Login = (typeof LOGINS)[number];

function toSettings(url: string): PublishingSettings {
  const api = { baseUrl: url, uploadBaseUrl: `${url}/rupload`, version: "v25.0" };
  const others = { baseUrl: url };
  return {
    instagram: { ...api, loginBaseUrl: `${url}/login` },
    facebook: api,
    x: { ...others, mayResend: false },
    tiktok: others,
    youtube: others,
    telegram: others,
    bluesky: { ...others, videoBaseUrl: url, outbound: { allow: [] } },
  };
}

function required<T>(connector: T | undefined): T {
  if (connector === undefined) throw new Error("the platform has no such connector");
  return connector;
}

/**
 * The simulated Facebook or Instagram with the connectors for it. All its accounts are connected in
 * the same way, for example with Instagram Login.
 */
export class GraphSite {
  readonly platform: TestPlatform;
  readonly comments: CommentsConnector;
  readonly privateReplies: PrivateRepliesConnector;
  readonly metrics: MetricsConnector;
  readonly #login: Login;
  readonly #files: MediaServer;
  readonly #publishing: PublishingConnector;
  #nextImage = 0;

  constructor(login: Login, platform: TestPlatform, files: MediaServer) {
    const settings = toSettings(platform.url);
    const id = login === "facebook" ? "facebook" : "instagram";
    this.platform = platform;
    this.comments = required(createConnectors("comments", settings)[id]);
    this.privateReplies = required(createConnectors("privateReplies", settings)[id]);
    this.#login = login;
    this.#files = files;
    this.#publishing = createConnectors("publishing", settings)[id];
    this.metrics = required(createConnectors("metrics", settings)[id]);
  }

  /** Creates an account with a valid token. */
  async createAccount(): Promise<AccountAccess> {
    const { credentials, externalId, username } = await this.platform.createAccount();
    const isInstagramLogin = this.#login === "instagram login";
    const token = isInstagramLogin
      ? credentials["instagramAccessToken"]
      : credentials["accessToken"];
    return {
      externalId,
      username,
      accessToken: token ?? "",
      attributes: isInstagramLogin ? { login: "instagram" } : {},
    };
  }

  /** Publishes a post of the account, and returns the platform's id of the post. */
  async publish(
    account: AccountAccess,
    text = "Ships & sails",
    files?: readonly TestMedia[],
  ): Promise<string> {
    this.#nextImage += 1;
    const usual = this.#login === "facebook" ? [] : [jpegMedia(this.#nextImage)];
    const publication: Publication = {
      ...account,
      targetId: "01936a5e-0000-7000-8000-000000000000",
      text,
      title: undefined,
      privacy: undefined,
      tags: [],
      settings: {},
      media: (files ?? usual).map((file) => this.#files.serve(file)),
    };
    const outcome = await this.platform.publish(this.#publishing, publication);
    if (outcome.kind !== "published" || outcome.externalId === null)
      throw new Error(`the post was not published: ${JSON.stringify(outcome)}`);
    return outcome.externalId;
  }
}
