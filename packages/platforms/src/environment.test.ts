import { type EnvReader, loadConfig } from "@postrider/shared/config";
import { expect, test } from "vitest";
import { readAuthorizationSettings } from "./authorizations.ts";
import { readPublishingSettings } from "./platforms.ts";

const read = (env: Readonly<Record<string, string>>) =>
  loadConfig(env, (reader: EnvReader) => ({
    apps: readAuthorizationSettings(reader, (page) => page),
    settings: readPublishingSettings(reader, { allow: [] }),
  }));

test("every platform address is a public host of the platform when no setting replaces it", () => {
  const { apps, settings } = read({});
  expect(settings.instagram).toEqual({
    baseUrl: "https://graph.facebook.com",
    uploadBaseUrl: "https://rupload.facebook.com",
    loginBaseUrl: "https://graph.instagram.com",
    version: "v25.0",
  });
  expect(apps.instagram).toMatchObject({
    baseUrl: "https://graph.facebook.com",
    authorizeUrl: "https://www.facebook.com/v25.0/dialog/oauth",
    instagramLogin: {
      baseUrl: "https://graph.instagram.com",
      oauthBaseUrl: "https://api.instagram.com",
      authorizeUrl: "https://www.instagram.com/oauth/authorize",
    },
  });
  // Meta calls graph-video.facebook.com deprecated ("Video API: Get started", 2025-02-10).
  expect(settings.facebook.videoBaseUrl).toBe("https://graph.facebook.com");
  expect(apps.youtube.oauthBaseUrl).toBe("https://oauth2.googleapis.com");
  expect(apps.tiktok.authorizeUrl).toBe("https://www.tiktok.com/v2/auth/authorize/");
});

test("a base address setting replaces every address of its own platform and of no other platform", () => {
  const { apps, settings } = read({ INSTAGRAM_BASE_URL: "http://127.0.0.1:9/instagram" });
  expect(settings.instagram).toEqual({
    baseUrl: "http://127.0.0.1:9/instagram",
    uploadBaseUrl: "http://127.0.0.1:9/instagram/rupload",
    loginBaseUrl: "http://127.0.0.1:9/instagram/login",
    version: "v25.0",
  });
  expect(apps.instagram).toMatchObject({
    baseUrl: "http://127.0.0.1:9/instagram",
    authorizeUrl: "http://127.0.0.1:9/instagram/v25.0/dialog/oauth",
    instagramLogin: {
      baseUrl: "http://127.0.0.1:9/instagram/login",
      oauthBaseUrl: "http://127.0.0.1:9/instagram/login",
      authorizeUrl: "http://127.0.0.1:9/instagram/login/oauth/authorize",
    },
  });
  expect(settings.facebook.baseUrl).toBe("https://graph.facebook.com");
  expect(apps.x.authorizeUrl).toBe("https://x.com/i/oauth2/authorize");
});

test("the URL of Facebook's authorization page contains the configured Graph API version", () => {
  expect(read({ GRAPH_API_VERSION: "v26.0" }).apps.facebook.authorizeUrl).toBe(
    "https://www.facebook.com/v26.0/dialog/oauth",
  );
});
