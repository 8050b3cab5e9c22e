import type { EnvReader } from "@postrider/shared/config";
import type { Unconfigured } from "#src/authorization/configure.ts";
import { type PlatformEnvironment, readClient, readPlace } from "#src/environment.ts";
import type { YoutubeApp } from "./authorization.ts";
import { youtube } from "./facts.ts";
import type { YoutubeSettings } from "./publishing/connector.ts";

/** YouTube serves the API and the uploads on one host. */
const readHosts = (read: EnvReader) => readPlace(read, youtube.rules, "https://www.googleapis.com");

export const environment: PlatformEnvironment<Unconfigured<YoutubeApp>, YoutubeSettings> = {
  readApp: (read, toPage) => {
    const { api, at } = readHosts(read);
    const page = at("https://accounts.google.com/o/oauth2/v2/auth", "/o/oauth2/v2/auth");
    return {
      baseUrl: api,
      oauthBaseUrl: at("https://oauth2.googleapis.com", ""),
      authorizeUrl: toPage(page),
      ...readClient(read, youtube.rules),
    };
  },
  readSettings: (read) => ({ baseUrl: readHosts(read).api }),
};
