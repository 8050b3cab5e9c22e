import type { EnvReader } from "@postrider/shared/config";
import type { PlatformId } from "./platform-id.ts";
import { PLATFORM_FACTS } from "./registry.ts";

/** The public base address of each platform's API. */
const PUBLIC_API: Readonly<Record<PlatformId, string>> = {
  instagram: "https://graph.facebook.com",
  x: "https://api.x.com",
  facebook: "https://graph.facebook.com",
  tiktok: "https://open.tiktokapis.com",
  youtube: "https://www.googleapis.com",
  telegram: "https://api.telegram.org",
  bluesky: "https://bsky.social",
};

/**
 * The addresses of one platform. By default they are the platform's public hosts. When the platform's base address
 * setting is set, all of them begin with that address, as in the simulator.
 */
interface Place {
  readonly api: string;
  /**
   * Returns the address of one of the platform's other services, for example its upload service: `host` by default;
   * `path` below the platform's base address setting when that is set.
   */
  readonly at: (host: string, path: string) => string;
}

function readPlace(read: EnvReader, platform: PlatformId): Place {
  const own = PUBLIC_API[platform];
  const api = read
    .about(
      `Base address for all calls to ${PLATFORM_FACTS[platform].rules.displayName}, for example that of the simulator. A value other than the default is also used instead of ${PLATFORM_FACTS[platform].rules.displayName}'s other hosts, such as those for sign-in and uploads.`,
      {
        level: "tests",
      },
    )
    .url(`${platform.toUpperCase()}_BASE_URL`, own);
  return { api, at: (host, path) => (api === own ? host : `${api}${path}`) };
}

/** Reads from the settings the addresses of all platforms, and the version of Meta's Graph API. */
export function readPlatformAddresses(read: EnvReader) {
  const instagram = readPlace(read, "instagram");
  const facebook = readPlace(read, "facebook");
  const x = readPlace(read, "x");
  const youtube = readPlace(read, "youtube");
  const tiktok = readPlace(read, "tiktok");
  const bluesky = readPlace(read, "bluesky");
  const graphVersion = read
    .about("Version of Meta's Graph API, for Facebook and Instagram.", { level: "advanced" })
    .string("GRAPH_API_VERSION", { default: "v25.0" });
  const dialog = `/${graphVersion}/dialog/oauth`;
  return {
    graphVersion,
    instagram: {
      api: instagram.api,
      upload: instagram.at("https://rupload.facebook.com", "/rupload"),
      authorize: instagram.at(`https://www.facebook.com${dialog}`, dialog),
      /** API addresses for Instagram accounts that were connected with Instagram Login. */
      login: {
        api: instagram.at("https://graph.instagram.com", "/login"),
        oauth: instagram.at("https://api.instagram.com", "/login"),
        authorize: instagram.at(
          "https://www.instagram.com/oauth/authorize",
          "/login/oauth/authorize",
        ),
      },
    },
    facebook: {
      api: facebook.api,
      upload: facebook.at("https://rupload.facebook.com", "/rupload"),
      video: facebook.at("https://graph.facebook.com", "/graph-video"),
      authorize: facebook.at(`https://www.facebook.com${dialog}`, dialog),
    },
    x: {
      api: x.api,
      authorize: x.at("https://x.com/i/oauth2/authorize", "/i/oauth2/authorize"),
    },
    youtube: {
      // YouTube serves the API and the uploads on one host.
      api: youtube.api,
      oauth: youtube.at("https://oauth2.googleapis.com", ""),
      authorize: youtube.at("https://accounts.google.com/o/oauth2/v2/auth", "/o/oauth2/v2/auth"),
    },
    tiktok: {
      api: tiktok.api,
      // TikTok's authorization page exists only at the URL with a slash at the end.
      authorize: tiktok.at("https://www.tiktok.com/v2/auth/authorize/", "/v2/auth/authorize/"),
    },
    telegram: { api: readPlace(read, "telegram").api },
    // The public directory (PLC) says on which server each Bluesky account is.
    bluesky: { api: bluesky.api, directory: bluesky.at("https://plc.directory", "/plc") },
  };
}
