import type { EnvReader } from "@postrider/shared/config";
import { type PlatformEnvironment, readPlace } from "#src/environment.ts";
import { bluesky } from "./facts.ts";
import type { BlueskyDirectory } from "./find-repository.ts";
import type { BlueskySettings } from "./publishing/connector.ts";

const readHosts = (read: EnvReader) => readPlace(read, bluesky.rules, "https://bsky.social");

export const environment: PlatformEnvironment<BlueskyDirectory, BlueskySettings> = {
  readApp: (read) => {
    const { api, at } = readHosts(read);
    // The public directory (PLC) says on which server each Bluesky account is.
    return { baseUrl: api, plcUrl: at("https://plc.directory", "/plc") };
  },
  readSettings: (read, outbound) => ({
    baseUrl: readHosts(read).api,
    outbound,
    videoBaseUrl: read
      .about(
        "Address of Bluesky's video service, which serves the accounts of all Bluesky servers.",
        {
          level: "advanced",
        },
      )
      .url("BLUESKY_VIDEO_BASE_URL", "https://video.bsky.app"),
  }),
};
