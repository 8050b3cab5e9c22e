import type { EnvReader } from "@postrider/shared/config";
import type { Unconfigured } from "#src/authorization/configure.ts";
import { type PlatformEnvironment, readPlace } from "#src/environment.ts";
import type { TiktokApp } from "./authorization.ts";
import { tiktok } from "./facts.ts";
import { CHUNK_SIZES } from "./publishing/chunk-plan.ts";
import type { TiktokSettings } from "./publishing/connector.ts";

const readHosts = (read: EnvReader) => readPlace(read, tiktok.rules, "https://open.tiktokapis.com");

export const environment: PlatformEnvironment<Unconfigured<TiktokApp>, TiktokSettings> = {
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
          "Maximum size in bytes of a video that Postrider uploads to TikTok in one piece. Larger videos are divided into chunks. Since August 2026, TikTok refuses uploads that divide a video of up to 64 MB. 0 = divide every video.",
          { level: "advanced" },
        )
        .integer("TIKTOK_WHOLE_BYTES", { default: CHUNK_SIZES.wholeBytes, min: 0 }),
    },
  }),
};
