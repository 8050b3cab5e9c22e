import type { EnvReader } from "@postrider/shared/config";
import type { Unconfigured } from "#src/authorization/configure.ts";
import { type PlatformEnvironment, readClient, readPlace } from "#src/environment.ts";
import { readGraphVersion } from "#src/graph-api/graph-request.ts";
import type { GraphApp } from "#src/graph-api/token-owner.ts";
import { facebook } from "./facts.ts";
import type { FacebookSettings } from "./publishing/connector.ts";

const readHosts = (read: EnvReader) =>
  readPlace(read, facebook.rules, "https://graph.facebook.com");

export const environment: PlatformEnvironment<Unconfigured<GraphApp>, FacebookSettings> = {
  readApp: (read, toPage) => {
    const { api, at } = readHosts(read);
    const { version, dialog } = readGraphVersion(read);
    return {
      baseUrl: api,
      version,
      authorizeUrl: toPage(at(`https://www.facebook.com${dialog}`, dialog)),
      ...readClient(read, facebook.rules),
    };
  },
  readSettings: (read) => {
    const { api, at } = readHosts(read);
    return {
      baseUrl: api,
      uploadBaseUrl: at("https://rupload.facebook.com", "/rupload"),
      version: readGraphVersion(read).version,
      // Meta calls graph-video.facebook.com deprecated ("Video API: Get started", 2025-02-10).
      videoBaseUrl: read
        .about(
          "Address to which videos for Facebook Pages are uploaded. If Facebook refuses videos there, try https://graph-video.facebook.com, the address in older documents of Meta.",
          { level: "advanced" },
        )
        .url("FACEBOOK_VIDEO_BASE_URL", at("https://graph.facebook.com", "/graph-video")),
      isTwoPhase:
        read
          .about(
            "Whether posts and videos on Facebook Pages are created unpublished and published by a second call, so that a lost response cannot cause a second post. Facebook's current guide does not describe this way, so check with a test post that it works for your Page.",
            { level: "advanced" },
          )
          .oneOf("FACEBOOK_TWO_PHASE", ["on", "off"], "off") === "on",
    };
  },
};
