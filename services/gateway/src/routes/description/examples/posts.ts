import { EXAMPLE_DATA } from "@postrider/rest/webhooks/event-examples";
import { EXAMPLE_IDS, type OperationExamples } from "./example.ts";

const {
  "post.published": post,
  "target.published": target,
  "target.failed": failure,
  "media.ready": media,
} = EXAMPLE_DATA;
const { postId: _, ...targetOfPost } = target;
const { postId: __, ...failedTarget } = failure;

/** The example post after its publication, with one target and one image. */
const PUBLISHED_POST = {
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

const PARTIAL_POST = {
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
const ACCEPTED_POST = {
  ...PUBLISHED_POST,
  status: "publishing",
  publishedAt: null,
  targets: [{ ...targetOfPost, ...PENDING }],
  attempts: [],
};

/** The example post before its scheduled time. */
const SCHEDULED_POST = { ...ACCEPTED_POST, status: "scheduled", startedAt: null };

const CONTENT = "We are open on Sunday.";
const ACCOUNT_IDS = [EXAMPLE_IDS.account];
const BOTH_ACCOUNTS = [EXAMPLE_IDS.account, EXAMPLE_IDS.otherAccount];

/**
 * Each example has a text of its own, because the same text is not sent to an account twice within
 * 24 hours.
 */
const CREATE = {
  now: {
    summary: "Publish now on two accounts",
    value: { content: CONTENT, accountIds: BOTH_ACCOUNTS },
  },
  schedule: {
    summary: "Publish at a time",
    value: {
      content: "We are open until eight tonight.",
      accountIds: ACCOUNT_IDS,
      scheduledAt: "2026-11-24T18:00:00+09:00",
    },
  },
  slot: {
    summary: "Publish at the next free queue slot",
    value: {
      content: "This week in the shop: winter tyres.",
      accountIds: ACCOUNT_IDS,
      queueSlot: true,
    },
  },
  draft: {
    summary: "Keep a draft",
    value: { content: "An idea for later.", accountIds: ACCOUNT_IDS, isDraft: true },
  },
  override: {
    summary: "Another text for one platform and for one account",
    value: {
      content: "We are open on Monday.",
      accountIds: BOTH_ACCOUNTS,
      options: {
        bluesky: { content: "We are open on Monday. Come by!" },
        [EXAMPLE_IDS.otherAccount]: { content: "We are open on Monday. Bring your bike." },
      },
    },
  },
  media: {
    summary: "With an image that was uploaded before",
    value: { content: "Our new shop.", accountIds: ACCOUNT_IDS, mediaIds: [EXAMPLE_IDS.media] },
  },
};

const READ: Readonly<Record<string, OperationExamples>> = {
  listPosts: {
    answers: { 200: { posts: [EXAMPLE_DATA["post.published"]], nextCursor: null } },
  },
  getPost: { answers: { 200: PARTIAL_POST } },
  refreshPostMetrics: {
    answers: {
      200: {
        post: PUBLISHED_POST,
        refresh: {
          eligible: 1,
          ready: 1,
          notFound: 0,
          error: 0,
          deferred: 0,
          stale: 0,
          failed: 0,
        },
      },
    },
  },
};

export const POST_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  ...READ,
  createPost: { requests: CREATE, answers: { 202: ACCEPTED_POST } },
  validatePost: {
    requests: { now: CREATE.now, schedule: CREATE.schedule, override: CREATE.override },
    answers: {
      200: {
        valid: true,
        scheduledAt: null,
        targets: [{ accountId: EXAMPLE_IDS.account, platform: "bluesky" }],
      },
    },
  },
  updatePost: {
    requests: {
      text: { summary: "Change the text", value: { content: `${CONTENT} Come by!` } },
      time: { summary: "Move it", value: { scheduledAt: "2026-11-25T09:30:00+09:00" } },
      withoutMedia: { summary: "Remove the media", value: { mediaIds: [] } },
    },
    answers: { 200: SCHEDULED_POST },
  },
  deletePost: {
    answers: {
      202: {
        id: EXAMPLE_IDS.post,
        status: "cancelled",
        targets: [
          { accountId: EXAMPLE_IDS.account, platform: "bluesky", status: "deleting", error: null },
        ],
      },
    },
  },
  publishPost: {
    requests: {
      again: {
        summary: "Publish even if the same content was published recently",
        value: { force: true },
      },
    },
    answers: { 202: ACCEPTED_POST },
  },
  retryPost: { answers: { 202: ACCEPTED_POST } },
};
