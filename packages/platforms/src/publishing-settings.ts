import type { EnvReader } from "@postrider/shared/config";
import type { OutboundRules } from "@postrider/shared/http/outbound-rules";
import { readPlatformAddresses } from "#src/addresses.ts";
import type { PublishingSettings } from "#src/platforms.ts";
import { CHUNK_SIZES, type ChunkSizes } from "#src/tiktok/publishing/chunk-plan.ts";

/** Reads from the settings the addresses and options with which each platform is called. */
export function readPublishingSettings(
  read: EnvReader,
  outbound: OutboundRules,
): PublishingSettings {
  const { graphVersion: version, ...at } = readPlatformAddresses(read);
  return {
    x: {
      baseUrl: at.x.api,
      mayResend:
        read
          .about(
            "Whether a post on X is sent once more when X's response was lost and the account's timeline does not show the post. With `off` the post fails with the error `outcome_unknown`.",
            { level: "advanced" },
          )
          .oneOf("X_RESEND", ["on", "off"], "on") === "on",
    },
    tiktok: { baseUrl: at.tiktok.api, chunkSizes: readChunkSizes(read) },
    telegram: { baseUrl: at.telegram.api },
    bluesky: {
      baseUrl: at.bluesky.api,
      outbound,
      videoBaseUrl: read
        .about(
          "Address of Bluesky's video service, which serves the accounts of all Bluesky servers.",
          {
            level: "advanced",
          },
        )
        .url("BLUESKY_VIDEO_BASE_URL", "https://video.bsky.app"),
    },
    youtube: { baseUrl: at.youtube.api },
    instagram: {
      baseUrl: at.instagram.api,
      loginBaseUrl: at.instagram.login.api,
      uploadBaseUrl: at.instagram.upload,
      version,
    },
    facebook: {
      baseUrl: at.facebook.api,
      uploadBaseUrl: at.facebook.upload,
      version,
      videoBaseUrl: readFacebookVideoUrl(read, at.facebook.video),
      isTwoPhase: readTwoPhase(read),
    },
  };
}

function readFacebookVideoUrl(read: EnvReader, usual: string): string {
  return read
    .about(
      "Address to which videos for Facebook Pages are uploaded. If Facebook refuses videos there, try https://graph-video.facebook.com, which older documents of Meta name.",
      { level: "advanced" },
    )
    .url("FACEBOOK_VIDEO_BASE_URL", usual);
}

function readTwoPhase(read: EnvReader): boolean {
  return (
    read
      .about(
        "Whether posts and videos on Facebook Pages are created unpublished and published by a second call, so that a lost response cannot cause a second post. Facebook's current guide does not describe this, so check with a test post that your Page allows it.",
        { level: "advanced" },
      )
      .oneOf("FACEBOOK_TWO_PHASE", ["on", "off"], "off") === "on"
  );
}

function readChunkSizes(read: EnvReader): ChunkSizes {
  const wholeBytes = read
    .about(
      "Maximum size in bytes of a video that Postrider uploads to TikTok in one piece; a larger video is divided into chunks. Since August 2026, TikTok refuses uploads that divide a video of up to 64 MB. With 0, every video is divided.",
      { level: "advanced" },
    )
    .integer("TIKTOK_WHOLE_BYTES", { default: CHUNK_SIZES.wholeBytes, min: 0 });
  return { ...CHUNK_SIZES, wholeBytes };
}
