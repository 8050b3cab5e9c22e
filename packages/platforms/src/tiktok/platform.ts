import { type AccountChecks, CONNECT_AGAIN } from "#src/diagnosis/account-checks.ts";
import { describeStatus, list, number } from "#src/http/platform-answer.ts";
import type { Platform } from "#src/platform.ts";
import { askTiktok } from "#src/tiktok/publishing/calls.ts";
import { authorization } from "./authorization.ts";
import { createTiktokAvailableReader } from "./available.ts";
import { environment } from "./environment.ts";
import { tiktok as facts } from "./facts.ts";
import { createTiktokMetricsConnector } from "./metrics/connector.ts";
import { codeOf, dataOf } from "./publishing/calls.ts";
import { createTiktokPublishingConnector } from "./publishing/connector.ts";

function createTiktokAccountChecks({ baseUrl }: { readonly baseUrl: string }): AccountChecks {
  return (account) => [
    {
      name: "what TikTok allows",
      remedy: CONNECT_AGAIN,
      run: async (signal) => {
        const path = "post/publish/creator_info/query/";
        const answer = await askTiktok({ baseUrl, account, signal }, path, {});
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

export const tiktok = {
  ...facts,
  environment,
  authorization,
  publishing: createTiktokPublishingConnector,
  comments: undefined,
  privateReplies: undefined,
  metrics: createTiktokMetricsConnector,
  diagnosis: createTiktokAccountChecks,
  available: ({ baseUrl }: { readonly baseUrl: string }) => createTiktokAvailableReader(baseUrl),
  links: { hosts: ["tiktok.com"], pattern: /^\/@[^/]+\/(?:video|photo)\/(\d+)/ },
} satisfies Platform;
