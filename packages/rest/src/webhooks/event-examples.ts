import { actionFor, causeFor } from "#src/target-errors/action-for.ts";

const ACCOUNT_ID = "01a18f2e-5b1c-7d3e-8a4f-6b7c8d9e0f1a";
const MEDIA_ID = "01a19c11-2d4e-7f60-9182-a3b4c5d6e7f8";
const POST_ID = "01a1a1b4-3c5d-7e6f-8091-a2b3c4d5e6f7";
const TARGET_ID = "01a1a1b4-3c5e-7102-9324-b5c6d7e8f901";
const WEBHOOK_ID = "01a19000-1111-7222-8333-444455556666";

const post = {
  id: POST_ID,
  status: "published",
  content: "We are open on Sunday.",
  scheduledAt: "2026-11-21T09:00:00.000Z",
  startedAt: "2026-11-21T09:00:00.011Z",
  publishedAt: "2026-11-21T09:00:01.402Z",
  createdVia: "rest",
  createdAt: "2026-11-20T14:12:08.250Z",
  updatedAt: "2026-11-21T09:00:01.402Z",
  mediaIds: [MEDIA_ID],
  targets: [
    {
      accountId: ACCOUNT_ID,
      platform: "bluesky",
      status: "published",
      permalink: "https://bsky.app/profile/rider.example/post/3m5xk",
      errorCode: null,
    },
  ],
};

const unpublished = {
  ...post,
  publishedAt: null,
  targets: post.targets.map((target) => ({ ...target, status: "publishing", permalink: null })),
};

const failedTargets = unpublished.targets.map((each) => ({
  ...each,
  status: "failed",
  errorCode: "content_rejected",
}));

const target = {
  id: TARGET_ID,
  postId: POST_ID,
  accountId: ACCOUNT_ID,
  platform: "bluesky",
  username: "rider.example",
  status: "published",
  externalId: "at://did:plc:abc/app.bsky.feed.post/3m5xk",
  permalink: "https://bsky.app/profile/rider.example/post/3m5xk",
  publishedAt: "2026-11-21T09:00:01.402Z",
  error: null,
  attemptCount: 1,
  nextAttemptAt: null,
  metrics: null,
};

const REFUSAL = { code: "content_rejected", retryable: false } as const;
const REFUSED = {
  ...REFUSAL,
  message: causeFor("en", "publication", REFUSAL.code),
  action: actionFor("en", {
    ...REFUSAL,
    work: "publication",
    status: "failed",
    platform: target.platform,
  }),
};

const account = {
  id: ACCOUNT_ID,
  platform: "bluesky",
  externalId: "did:plc:abc",
  username: "rider.example",
  displayName: "Rider",
  avatarUrl: null,
  status: "active",
  connectedAt: "2026-11-19T08:30:00.000Z",
  tokenExpiresAt: null,
  accessEndedAt: null,
  permissions: { granted: ["publishing", "comments", "metrics"], missing: [] },
};

/** Example of the `data` of each webhook event. */
export const EXAMPLE_DATA = {
  "post.scheduled": {
    ...unpublished,
    status: "scheduled",
    startedAt: null,
    targets: unpublished.targets.map((each) => ({ ...each, status: "pending" })),
  },
  "post.publishing": { ...unpublished, status: "publishing" },
  "post.published": post,
  "post.partial": {
    ...post,
    status: "partial",
    targets: [
      ...post.targets,
      {
        accountId: "01a18f2e-5b1c-7d3e-8a4f-6b7c8d9e0f1b",
        platform: "x",
        status: "failed",
        permalink: null,
        errorCode: "content_rejected",
      },
    ],
  },
  "post.failed": { ...unpublished, status: "failed", targets: failedTargets },
  "post.cancelled": {
    ...post,
    status: "cancelled",
    targets: post.targets.map((each) => ({ ...each, status: "deleting" })),
  },
  "post.deleted": { id: POST_ID },
  "target.published": target,
  "target.updated": target,
  "target.failed": {
    ...target,
    status: "failed",
    externalId: null,
    permalink: null,
    publishedAt: null,
    error: REFUSED,
  },
  "target.deleted": { ...target, status: "deleted" },
  "account.connected": account,
  "account.disconnected": { ...account, status: "disconnected" },
  "account.reconnect_required": {
    ...account,
    status: "reconnect_required",
    accessEndedAt: "2026-11-20T09:00:00.000Z",
  },
  "media.ready": {
    id: MEDIA_ID,
    status: "ready",
    kind: "image",
    contentType: "image/jpeg",
    bytes: 184_233,
    width: 1600,
    height: 1200,
    durationMs: null,
    sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    fileName: "shop.jpg",
    altText: "A sailing boat at sunrise",
    coverMs: null,
    video: null,
    url: "https://postrider.example/media/eyJjbGFpbXMiOnt9fQ.c2lnbmF0dXJl",
    createdAt: "2026-11-20T14:11:52.003Z",
  },
  "comment_action.completed": {
    id: "01a1a1c4-77aa-7b4c-8d5e-6f708192a3b4",
    accountId: ACCOUNT_ID,
    mediaId: "18027438291234567",
    commentId: "17912345678901234",
    type: "reply",
    text: "Yes, we are open on Sunday.",
    status: "succeeded",
    error: null,
    createdAt: "2026-11-21T09:00:00.118Z",
    finishedAt: "2026-11-21T09:00:01.402Z",
  },
  "automation_run.completed": {
    id: "01a1a1c5-0b1e-7c2d-9e3f-405162738495",
    ruleId: "01a19d00-4a5b-7c6d-8e7f-8091a2b3c4d5",
    commentId: "17912345678901234",
    mediaId: "18027438291234567",
    author: { id: "17841405309211844", username: "bike.fan" },
    status: "sent",
    reason: null,
    createdAt: "2026-11-21T09:00:00.507Z",
  },
  "quota.exhausted": {
    period: "2026-11",
    limit: 1000,
    used: 940,
    reserved: 60,
    remaining: 0,
    resetsAt: "2026-12-01T00:00:00.000Z",
  },
  "webhook.disabled": {
    id: WEBHOOK_ID,
    url: "https://example.com/postrider",
    description: "Publishing results",
    events: ["post.*", "target.failed"],
    status: "disabled",
    disabledReason: "failing",
    signing: "hmac-sha256",
    publicKey: null,
    maxPerSecond: null,
    createdAt: "2026-11-12T12:00:00.000Z",
    updatedAt: "2026-11-21T09:00:01.402Z",
  },
  "webhook.test": { webhookId: WEBHOOK_ID },
} as const;
