import { type AccountChecks, CONNECT_AGAIN, readAccount } from "#src/diagnosis/account-checks.ts";
import { list, object, text } from "#src/http/platform-answer.ts";
import { bearer } from "#src/http/platform-request.ts";
import type { Platform } from "#src/platform.ts";
import { authorization } from "./authorization.ts";
import { createYoutubeCommentsConnector } from "./comments/connector.ts";
import { environment } from "./environment.ts";
import { youtube as facts } from "./facts.ts";
import { createYoutubeMetricsConnector } from "./metrics/connector.ts";
import { createYoutubePublishingConnector } from "./publishing/connector.ts";

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

export const youtube = {
  ...facts,
  environment,
  authorization,
  publishing: createYoutubePublishingConnector,
  comments: createYoutubeCommentsConnector,
  privateReplies: undefined,
  metrics: createYoutubeMetricsConnector,
  diagnosis: createYoutubeAccountChecks,
  available: undefined,
  links: {
    hosts: ["youtube.com", "m.youtube.com"],
    pattern: /^\/(?:watch\?(?:.*&)?v=|shorts\/)([\w-]{11})/,
  },
} satisfies Platform;
