import { EnvReader } from "@postrider/shared/config";
import { expect, test } from "vitest";
import { PLATFORM_IDS } from "#src/platform-id.ts";
import { createConnectors, readPublishingSettings } from "#src/platforms.ts";
import { PLATFORM_FACTS } from "#src/registry.ts";

const settings = readPublishingSettings(new EnvReader({}), { allow: [] });
const comments = createConnectors("comments", settings);
const metrics = createConnectors("metrics", settings);
const publishing = createConnectors("publishing", settings);
const privateReplies = createConnectors("privateReplies", settings);

test.each(PLATFORM_IDS)(
  "the platform rules of %s promise exactly the features of comments, private replies and metrics that its connectors have",
  (id) => {
    const { comments: promised, dm, metrics: counted } = PLATFORM_FACTS[id].rules;
    expect(comments[id] !== undefined).toBe(promised.list);
    expect([...(comments[id]?.actions ?? [])].toSorted()).toEqual(
      [
        ...(promised.hide ? ["hide", "unhide"] : []),
        ...(promised.reply ? ["reply"] : []),
      ].toSorted(),
    );
    expect(promised.delete).toBe(false);
    expect(privateReplies[id] !== undefined).toBe(dm.supported);
    expect(metrics[id] !== undefined).toBe(counted.supported);
    for (const connector of [comments[id], privateReplies[id], metrics[id]])
      expect(connector?.platform ?? id).toBe(id);
  },
);

test("only TikTok gives the ids of published posts later", () => {
  const later = PLATFORM_IDS.filter((id) => publishing[id].givesIdsLater === true);
  expect(later).toEqual(["tiktok"]);
});
