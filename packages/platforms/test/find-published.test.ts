import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createBlueskyPublishingConnector } from "#src/bluesky/publishing/connector.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { createXPublishingConnector } from "#src/x/publishing/connector.ts";
import { instagramAt } from "./instagram/instagram-at.ts";
import { jpegMedia, startMediaServer } from "./media-server.ts";
import { pngMedia } from "./test-media.ts";
import { signal, TestPlatform } from "./test-platform.ts";
import { unknownCall } from "./unknown-call.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const files = await startMediaServer();

/** Creates a publishing call with an unknown outcome whose last scheduled search was long ago. */
function callOfTwoHoursAgo(given: Partial<UnknownCall>): UnknownCall {
  return unknownCall({
    calledAt: new Date(Date.now() - 2 * HOUR_MS),
    callUntil: new Date(Date.now() - HOUR_MS),
    looks: 3,
    timeScale: 1,
    ...given,
  });
}

describe.each(["x", "bluesky", "instagram"] as const)(
  "search for a published post on %s",
  (name) => {
    let platform: TestPlatform;
    let connector: PublishingConnector;

    beforeAll(async () => {
      platform = await TestPlatform.start(name);
      const baseUrl = platform.url;
      connector = {
        x: createXPublishingConnector({ baseUrl, mayResend: true }),
        bluesky: createBlueskyPublishingConnector({ baseUrl, videoBaseUrl: baseUrl }),
        instagram: instagramAt(baseUrl),
      }[name];
    });
    afterAll(() => platform[Symbol.asyncDispose]());
    beforeEach(() => platform.reset());

    const createPublication = (text: string, media: Publication["media"]) =>
      platform.createPublication(media, text);
    const withImage = (text: string) =>
      createPublication(text, [name === "instagram" ? files.serve(jpegMedia(1)) : pngMedia(1)]);
    /**
     * Searches the platform for a post as after a database restore, without the handles of the
     * preparation steps.
     */
    const find = async (
      publication: Publication,
      given: Partial<UnknownCall> = {},
    ): Promise<Verdict> => {
      if (connector.findMatchingPost === undefined) throw new Error("the connector cannot look");
      return await connector.findMatchingPost(publication, {}, callOfTwoHoursAgo(given), signal);
    };

    test(`the ${name} connector finds a published post by its content when the database lacks the post's id`, async () => {
      const publication = await withImage("Ships & sails https://example.com/a?b=1 #harbour");
      await platform.publish(connector, publication);
      const [entry] = await platform.visible();
      expect(await find(publication)).toMatchObject({ kind: "present", externalId: entry?.id });
    });

    test(`the ${name} connector reports that a post is absent when the account published only other posts`, async () => {
      const publication = await withImage("first");
      await platform.publish(connector, publication);
      expect(await find({ ...publication, text: "second" })).toEqual({ kind: "absent" });
    });

    test(`the ${name} connector ignores matching posts that belong to another Postrider post`, async () => {
      const publication = await withImage("the same twice");
      await platform.publish(connector, publication);
      const isOwned: UnknownCall["isOwned"] = (ids) => Promise.resolve(new Set(ids));
      expect(await find(publication, { isOwned })).toEqual({ kind: "absent" });
    });

    test(`the ${name} connector ignores matching posts that are older than the publishing call`, async () => {
      const publication = await withImage("long ago");
      await platform.publish(connector, publication);
      const calledAt = new Date(Date.now() + 20 * MINUTE_MS);
      expect(await find(publication, { calledAt })).toEqual({ kind: "absent" });
    });

    test(`the ${name} connector finds a post although the clock of Postrider's database is ten minutes fast`, async () => {
      const publication = await withImage("a fast clock");
      await platform.publish(connector, publication);
      const [entry] = await platform.visible();
      const calledAt = new Date(Date.now() + 10 * MINUTE_MS);
      expect(await find(publication, { calledAt })).toMatchObject({
        kind: "present",
        externalId: entry?.id,
      });
    });

    test(`an unreadable list of posts of ${name} leaves the outcome of the publishing call unknown`, async () => {
      const publication = await withImage("unreadable");
      await platform.addFault("GET /*", "status", { status: 503, times: 20 });
      expect(await find(publication)).toMatchObject({ kind: "look_again", isIncomplete: true });
    });
  },
);
