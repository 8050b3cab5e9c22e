import { EnvReader } from "@postrider/shared/config";
import { expect, test } from "vitest";
import { PLATFORM_IDS } from "#src/platform-id.ts";
import { createConnectors, readPublishingSettings } from "#src/platforms.ts";
import { startJsonServer } from "./json-server.ts";
import { PUBLICATION } from "./publication.ts";
import { mp4Media, pngMedia } from "./test-media.ts";
import { signal } from "./test-platform.ts";
import { unknownCall } from "./unknown-call.ts";

/** A platform that refuses everything shows nothing about a post. */
const baseUrl = await startJsonServer(() => ({ status: 400, body: {} }));
const HOUR_MS = 3_600_000;

function connectorsWith(environment: Readonly<Record<string, string>>) {
  const settings = readPublishingSettings(new EnvReader(environment), { allow: [] });
  const atServer = Object.entries(settings).map(([id, given]) => {
    const urls = Object.keys(given).filter((name) => name.toLowerCase().endsWith("baseurl"));
    return [id, { ...given, ...Object.fromEntries(urls.map((name) => [name, baseUrl])) }];
  });
  return createConnectors("publishing", Object.fromEntries(atServer) as typeof settings);
}

const CONNECTORS = ["on", "off"].map((mode) => connectorsWith({ FACEBOOK_TWO_PHASE: mode }));

test.each(PLATFORM_IDS)(
  "the %s connector never permits another publishing call of a post whose handles are lost and that the platform does not show",
  async (id) => {
    const now = Date.now();
    const call = unknownCall({
      calledAt: new Date(now - 4 * HOUR_MS),
      callUntil: new Date(now - 3 * HOUR_MS),
      looks: 5,
    });
    for (const connectors of CONNECTORS)
      for (const media of [[], [pngMedia(1)], [mp4Media(1000)]]) {
        const publication = { ...PUBLICATION, title: "hello", privacy: "public", media };
        for (const look of [connectors[id].reconcile, connectors[id].findMatchingPost]) {
          const verdict = await look?.(publication, {}, call, signal);
          expect(verdict?.kind ?? "cannot_tell").toMatch(/^(?:cannot_tell|look_again)$/);
        }
      }
  },
);
