import type { EnvReader } from "@postrider/shared/config";
import { configureApp, type Unconfigured } from "#src/authorization/configure.ts";
import { type AccountChecks, CONNECT_AGAIN } from "#src/diagnosis/account-checks.ts";
import { type PlatformEnvironment, readPlace } from "#src/environment.ts";
import { describeStatus, list, number } from "#src/http/platform-answer.ts";
import type { Platform } from "#src/platform.ts";
import type { AvailableReader } from "#src/settings/available-reader.ts";
import {
  createTiktokAuthorizationConnector,
  PERMISSIONS,
  type TiktokApp,
} from "./authorization.ts";
import { tiktok as facts } from "./facts.ts";
import { createTiktokMetricsConnector } from "./metrics/connector.ts";
import { ask, codeOf, dataOf } from "./publishing/calls.ts";
import { CHUNK_SIZES } from "./publishing/chunk-plan.ts";
import { createTiktokPublishingConnector, type TiktokSettings } from "./publishing/connector.ts";
import { fetchCreatorInfo, toAvailable } from "./publishing/creator-info.ts";

const readHosts = (read: EnvReader) => readPlace(read, facts.rules, "https://open.tiktokapis.com");

const environment: PlatformEnvironment<Unconfigured<TiktokApp>, TiktokSettings> = {
  readApp: (read, toPage) => {
    const { api, at } = readHosts(read);
    // TikTok's authorization page exists only at the URL with a slash at the end.
    const page = at("https://www.tiktok.com/v2/auth/authorize/", "/v2/auth/authorize/");
    return {
      baseUrl: api,
      authorizeUrl: toPage(page),
      clientKey: read
        .about("Client key of your TikTok app. Without it, TikTok accounts cannot be connected.")
        .optionalString("TIKTOK_CLIENT_KEY"),
      clientSecret: read
        .secret("Client secret of your TikTok app.")
        .optionalString("TIKTOK_CLIENT_SECRET"),
    };
  },
  readSettings: (read) => ({
    baseUrl: readHosts(read).api,
    chunkSizes: {
      ...CHUNK_SIZES,
      wholeBytes: read
        .about(
          "Maximum size in bytes of a video that Postrider uploads to TikTok in one piece; a larger video is divided into chunks. Since August 2026, TikTok refuses uploads that divide a video of up to 64 MB. With 0, every video is divided.",
          { level: "advanced" },
        )
        .integer("TIKTOK_WHOLE_BYTES", { default: CHUNK_SIZES.wholeBytes, min: 0 }),
    },
  }),
};

function createTiktokAccountChecks({ baseUrl }: { readonly baseUrl: string }): AccountChecks {
  return (account) => [
    {
      name: "what TikTok allows",
      remedy: CONNECT_AGAIN,
      run: async (signal) => {
        const path = "post/publish/creator_info/query/";
        const answer = await ask({ baseUrl, account }, path, {}, signal);
        if (answer.kind === "no_answer")
          throw new Error(`TikTok does not answer: ${answer.message}`);
        const data = dataOf(answer);
        if (data === undefined)
          throw new Error(
            `TikTok refused the call (${describeStatus(answer)}): ${codeOf(answer) ?? "no reason"}`,
          );
        const levels = list(data, "privacy_level_options").join(", ");
        const seconds = number(data, "max_video_post_duration_sec") ?? "any number of";
        const off = ["comment", "duet", "stitch"].filter(
          (name) => data[`${name}_disabled`] === true,
        );
        const found = `TikTok accepts the token; privacy levels ${levels}; videos of up to ${seconds} s; ${off.length === 0 ? "comments, duets and stitches allowed" : `turned off by the owner: ${off.join(", ")}`}`;
        return levels === "SELF_ONLY"
          ? {
              status: "warning",
              found,
              remedy:
                "only private posts are possible: the app has not passed TikTok's audit, or the account is private",
            }
          : { status: "ok", found };
      },
    },
  ];
}

function createTiktokAvailableReader(baseUrl: string): AvailableReader {
  return async (account, signal) => {
    const creator = await fetchCreatorInfo({ baseUrl, account }, signal);
    return "kind" in creator
      ? { kind: "failed", message: creator.message }
      : { kind: "available", values: toAvailable(creator) };
  };
}

export const tiktok = {
  ...facts,
  environment,
  authorization: {
    configure: configureApp(createTiktokAuthorizationConnector),
    permissions: [PERMISSIONS],
    revocation: { ends: "grant" },
  },
  publishing: createTiktokPublishingConnector,
  comments: undefined,
  privateReplies: undefined,
  metrics: createTiktokMetricsConnector,
  diagnosis: createTiktokAccountChecks,
  livePublishing: createTiktokPublishingConnector,
  available: ({ baseUrl }: { readonly baseUrl: string }) => createTiktokAvailableReader(baseUrl),
  links: { hosts: ["tiktok.com"], pattern: /^\/@[^/]+\/(?:video|photo)\/(\d+)/ },
} satisfies Platform;
