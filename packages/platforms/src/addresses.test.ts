import { loadConfig } from "@postrider/shared/config";
import { expect, test } from "vitest";
import { readPlatformAddresses } from "./addresses.ts";

const read = (env: Readonly<Record<string, string>>) => loadConfig(env, readPlatformAddresses);

test("every platform address is a public host of the platform when no setting replaces it", () => {
  const { instagram, facebook, youtube, tiktok } = read({});
  expect(instagram).toEqual({
    api: "https://graph.facebook.com",
    upload: "https://rupload.facebook.com",
    authorize: "https://www.facebook.com/v25.0/dialog/oauth",
    login: {
      api: "https://graph.instagram.com",
      oauth: "https://api.instagram.com",
      authorize: "https://www.instagram.com/oauth/authorize",
    },
  });
  // Meta calls graph-video.facebook.com deprecated ("Video API: Get started", 2025-02-10).
  expect(facebook.video).toBe("https://graph.facebook.com");
  expect(youtube.oauth).toBe("https://oauth2.googleapis.com");
  expect(tiktok.authorize).toBe("https://www.tiktok.com/v2/auth/authorize/");
});

test("a base address setting replaces every address of its own platform and of no other platform", () => {
  const { instagram, facebook, x } = read({ INSTAGRAM_BASE_URL: "http://127.0.0.1:9/instagram" });
  expect(instagram).toEqual({
    api: "http://127.0.0.1:9/instagram",
    upload: "http://127.0.0.1:9/instagram/rupload",
    authorize: "http://127.0.0.1:9/instagram/v25.0/dialog/oauth",
    login: {
      api: "http://127.0.0.1:9/instagram/login",
      oauth: "http://127.0.0.1:9/instagram/login",
      authorize: "http://127.0.0.1:9/instagram/login/oauth/authorize",
    },
  });
  expect(facebook.api).toBe("https://graph.facebook.com");
  expect(x.authorize).toBe("https://x.com/i/oauth2/authorize");
});

test("the URL of Facebook's authorization page contains the configured Graph API version", () => {
  expect(read({ GRAPH_API_VERSION: "v26.0" }).facebook.authorize).toBe(
    "https://www.facebook.com/v26.0/dialog/oauth",
  );
});
