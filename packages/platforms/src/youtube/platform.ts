import type { EnvReader } from "@postrider/shared/config";
import { configureApp, type Unconfigured } from "#src/authorization/configure.ts";
import { type AccountChecks, CONNECT_AGAIN, readAccount } from "#src/diagnosis/account-checks.ts";
import { type PlatformEnvironment, readClient, readPlace } from "#src/environment.ts";
import { list, object, text } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";
import type { Platform } from "#src/platform.ts";
import {
  createYoutubeAuthorizationConnector,
  PERMISSIONS,
  type YoutubeApp,
} from "./authorization.ts";
import { createYoutubeCommentsConnector } from "./comments/connector.ts";
import { youtube as facts } from "./facts.ts";
import { createYoutubeMetricsConnector } from "./metrics/connector.ts";
import { createYoutubePublishingConnector, type YoutubeSettings } from "./publishing/connector.ts";

/** YouTube serves the API and the uploads on one host. */
const readHosts = (read: EnvReader) => readPlace(read, facts.rules, "https://www.googleapis.com");

const environment: PlatformEnvironment<Unconfigured<YoutubeApp>, YoutubeSettings> = {
  readApp: (read, toPage) => {
    const { api, at } = readHosts(read);
    const page = at("https://accounts.google.com/o/oauth2/v2/auth", "/o/oauth2/v2/auth");
    return {
      baseUrl: api,
      oauthBaseUrl: at("https://oauth2.googleapis.com", ""),
      authorizeUrl: toPage(page),
      ...readClient(read, facts.rules),
    };
  },
  readSettings: (read) => ({ baseUrl: readHosts(read).api }),
};

function createYoutubeAccountChecks({ baseUrl }: { readonly baseUrl: string }): AccountChecks {
  return (account) => [
    {
      name: "channel at YouTube",
      remedy: CONNECT_AGAIN,
      run: async (signal) => {
        const url = `${baseUrl}/youtube/v3/channels?part=status&mine=true`;
        const call = { method: "GET", url, headers: bearer(account.accessToken) } as const;
        const { json } = await readAccount("YouTube", call, signal);
        const [channel] = list(json, "items");
        if (text(channel, "id") !== account.externalId)
          throw new Error("the token belongs to another channel, or to none");
        const status = object(channel, "status");
        const long = text(status, "longUploadsStatus") ?? "unknown";
        const found = `YouTube accepts the token; the channel is ${text(status, "privacyStatus") ?? "of unknown privacy"}; videos over 15 minutes: ${long}; the quota is the project's and is shown in the Google Cloud console`;
        return long === "allowed"
          ? { status: "ok", found }
          : {
              status: "warning",
              found,
              remedy: "verify the channel at youtube.com/verify to upload videos over 15 minutes",
            };
      },
    },
  ];
}

/** Everything that Postrider knows of YouTube and can do there. */
export const youtube = {
  ...facts,
  environment,
  authorization: {
    configure: configureApp(createYoutubeAuthorizationConnector),
    permissions: [PERMISSIONS],
    revocation: { ends: "grant" },
  },
  publishing: createYoutubePublishingConnector,
  comments: createYoutubeCommentsConnector,
  privateReplies: undefined,
  metrics: createYoutubeMetricsConnector,
  diagnosis: createYoutubeAccountChecks,
  livePublishing: createYoutubePublishingConnector,
  available: undefined,
  links: {
    hosts: ["youtube.com", "m.youtube.com"],
    pattern: /^\/(?:watch\?(?:.*&)?v=|shorts\/)([\w-]{11})/,
  },
} satisfies Platform;
