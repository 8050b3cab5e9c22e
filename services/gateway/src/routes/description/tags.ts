import type { DescribedOperation } from "./document.ts";

/** The groups of operations, in the order of the documentation. */
export const TAGS = [
  { name: "accounts", description: "The connected accounts, to which posts are published." },
  { name: "platforms", description: "The platforms with the limits that their posts must keep." },
  {
    name: "posts",
    description: "Create, schedule, publish and read posts. A post has a result on each account.",
  },
  { name: "media", description: "Upload or import images and videos, for use in posts." },
  { name: "quota", description: "What is left of the monthly quota and of the daily limits." },
  { name: "queue-slots", description: "Recurring times at which queued posts are published." },
  {
    name: "webhooks",
    description: "Subscriptions to events, with the history of what was sent to them.",
  },
  { name: "comments", description: "Read the comments on your own media, and act on them." },
  {
    name: "automations",
    description:
      "Rules that answer comments with a private reply. Sending is blocked unless the operator enables it.",
  },
  { name: "webhook events", description: "The requests that Postrider sends to subscriptions." },
];

/** Groups of operations that the API contract assigns to its second phase. */
const SECOND_PHASE: ReadonlySet<string> = new Set([
  "queue-slots",
  "webhooks",
  "comments",
  "automations",
]);

/** Phase 1 or 2 of the API contract; an extension belongs to none. */
export function describePhase(operation: DescribedOperation): void {
  if (operation["x-postrider-extension"] === true) return;
  const { operationId = "", tags = [] } = operation;
  const isSecond =
    operationId === "refreshPostMetrics" || tags.some((tag) => SECOND_PHASE.has(tag));
  operation["x-postrider-phase"] = isSecond ? 2 : 1;
}
