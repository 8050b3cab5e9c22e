import { describe, expect, test } from "vitest";
import { GraphDriver } from "../graph-driver.ts";
import { PUBLISHED, refused } from "../results.ts";
import { guard, startTestPlatform } from "../test-platform.ts";
import { facebookAt } from "./facebook-at.ts";

const platform = await startTestPlatform("facebook");

const createPublication = (text: string) => platform.createPublication([], text);

const TEXTS = [
  "Join us https://www.facebook.com/events/123456",
  "Watch https://fb.watch/abc and read https://m.facebook.com/story",
  "The page https://unreadable.example.com/page cannot be read by Facebook",
];

describe("posts with links that Facebook refuses", () => {
  test.each(TEXTS)(
    "in two phases, the Facebook connector publishes the text %j without the refused link",
    async (text) => {
      const driver = new GraphDriver(platform, facebookAt(platform.url));
      const { outcome, publishCalls } = await driver.settle(await createPublication(text));
      expect(outcome).toMatchObject(PUBLISHED);
      expect(publishCalls).toBe(1);
      expect(await platform.visible()).toMatchObject([{ text }]);
    },
  );

  test("a Facebook post with a link to a page that Facebook cannot read is sent a second time with one call, and without the link", async () => {
    const atOnce = facebookAt(platform.url, { isTwoPhase: false });
    const text = "The page https://unreadable.example.com/page cannot be read by Facebook";
    const publication = await createPublication(text);
    const first = await atOnce.publish(publication, {}, guard);
    expect(first).toMatchObject({ kind: "retryable", code: "content_rejected", retryAfterMs: 0 });
    expect(await platform.visible()).toEqual([]);
    const handles = first.kind === "retryable" ? (first.handles ?? {}) : {};
    expect(await atOnce.publish(publication, handles, guard)).toMatchObject(PUBLISHED);
    expect(await platform.visible()).toMatchObject([{ text }]);
  });

  test("a Facebook post with a link to Facebook is sent with one call, and the next link in the text is shown as its preview", async () => {
    const atOnce = facebookAt(platform.url, { isTwoPhase: false });
    const text = "See https://facebook.com/events/1 and https://example.com/tickets";
    const publication = await createPublication(text);
    expect(await atOnce.publish(publication, {}, guard)).toMatchObject(PUBLISHED);
    expect(platform.lastBody("/feed")).toMatchObject({ link: "https://example.com/tickets" });
  });

  test("a Facebook post whose text is refused after its link was left out fails with the reason of the second refusal", async () => {
    const atOnce = facebookAt(platform.url, { isTwoPhase: false });
    const publication = await createPublication("The page https://unreadable.example.com/page");
    await platform.addFault("publish", "refuse");
    expect(await atOnce.publish(publication, { link: "refused" }, guard)).toMatchObject(
      refused("account_action_needed"),
    );
  });
});
