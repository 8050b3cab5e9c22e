import type { EnvReader } from "@postrider/shared/config";
import type { Unconfigured } from "#src/authorization/configure.ts";
import { type PlatformEnvironment, readClient, readPlace } from "#src/environment.ts";
import { readGraphVersion } from "#src/graph-api/graph-request.ts";
import type { InstagramSettings } from "./api-of-account.ts";
import type { InstagramApp } from "./authorization.ts";
import { instagram } from "./facts.ts";

const readHosts = (read: EnvReader) =>
  readPlace(read, instagram.rules, "https://graph.facebook.com");

export const environment: PlatformEnvironment<Unconfigured<InstagramApp>, InstagramSettings> = {
  readApp: (read, toPage) => {
    const { api, at } = readHosts(read);
    const { version, dialog } = readGraphVersion(read);
    return {
      baseUrl: api,
      version,
      authorizeUrl: toPage(at(`https://www.facebook.com${dialog}`, dialog)),
      ...readClient(read, instagram.rules),
      login: read
        .about(
          "How people connect Instagram accounts. `facebook`: they sign in with the Facebook account that manages their Page. `instagram`: they sign in on Instagram itself, and Postrider cannot delete posts.",
        )
        .oneOf("INSTAGRAM_LOGIN", ["facebook", "instagram"], "facebook"),
      instagramLogin: {
        baseUrl: at("https://graph.instagram.com", "/login"),
        oauthBaseUrl: at("https://api.instagram.com", "/login"),
        authorizeUrl: toPage(
          at("https://www.instagram.com/oauth/authorize", "/login/oauth/authorize"),
        ),
      },
    };
  },
  readSettings: (read) => {
    const { api, at } = readHosts(read);
    return {
      baseUrl: api,
      loginBaseUrl: at("https://graph.instagram.com", "/login"),
      uploadBaseUrl: at("https://rupload.facebook.com", "/rupload"),
      version: readGraphVersion(read).version,
    };
  },
};
