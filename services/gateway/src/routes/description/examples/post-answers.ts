import { EXAMPLE_DATA } from "@postrider/rest/webhooks/event-examples";

const {
  "post.published": post,
  "target.published": target,
  "target.failed": failure,
  "media.ready": media,
} = EXAMPLE_DATA;
const { postId: _, ...targetOfPost } = target;
const { postId: __, ...failedTarget } = failure;

/** The example post after its publication, with one target and one image. */
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

const X_ACCOUNT_ID = "01a18f2e-5b1c-7d3e-8a4f-6b7c8d9e0f1b";

/** The example post with a second target, which failed. */
export const PARTIAL_POST = {
  ...PUBLISHED_POST,
  status: "partial",
  targets: [
    targetOfPost,
    {
      ...failedTarget,
      id: "01a1a1b4-3c5e-7102-9324-b5c6d7e8f902",
      accountId: X_ACCOUNT_ID,
      platform: "x",
      username: "rider",
    },
  ],
  attempts: [
    ...PUBLISHED_POST.attempts,
    {
      ...PUBLISHED_POST.attempts[0],
      accountId: X_ACCOUNT_ID,
      outcome: "failed",
      code: failure.error.code,
      message: failure.error.message,
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

/** The example post before it is published. */
export const ACCEPTED_POST = {
  ...PUBLISHED_POST,
  status: "publishing",
  publishedAt: null,
  targets: [{ ...targetOfPost, ...PENDING }],
  attempts: [],
};

/** The example post before its scheduled time. */
export const SCHEDULED_POST = { ...ACCEPTED_POST, status: "scheduled", startedAt: null };
