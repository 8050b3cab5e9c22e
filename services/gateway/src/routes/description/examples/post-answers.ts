import { EXAMPLE_DATA } from "@postrider/rest/webhooks/event-examples";

const { "post.published": post, "target.published": target, "media.ready": media } = EXAMPLE_DATA;
const { postId: _, ...targetOfPost } = target;

/** A published post with one target and one image. */
export const PUBLISHED_POST = {
  ...post,
  options: {},
  queueSlotRuleId: null,
  media: [media],
  targets: [targetOfPost],
  attempts: [
    {
      accountId: target.accountId,
      number: 1,
      startedAt: "2026-11-21T09:00:00.020Z",
      finishedAt: "2026-11-21T09:00:01.390Z",
      outcome: "published",
      code: null,
      message: null,
    },
  ],
};

const PENDING = {
  status: "pending",
  externalId: null,
  permalink: null,
  publishedAt: null,
  attemptCount: 0,
};

/** The same post before it is published. */
export const ACCEPTED_POST = {
  ...PUBLISHED_POST,
  status: "publishing",
  publishedAt: null,
  targets: [{ ...targetOfPost, ...PENDING }],
  attempts: [],
};

/** The same post before its time. */
export const SCHEDULED_POST = { ...ACCEPTED_POST, status: "scheduled", startedAt: null };
