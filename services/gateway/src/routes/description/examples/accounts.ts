import { EXAMPLE_DATA } from "@postrider/rest/webhooks/event-examples";
import { toPlatforms } from "#src/routes/platforms/mapping.ts";
import { EXAMPLE_IDS, type OperationExamples } from "./example.ts";

const { "quota.exhausted": quota } = EXAMPLE_DATA;

const SETTINGS = {
  accountId: EXAMPLE_IDS.otherAccount,
  platform: "x",
  settings: { replySettings: "following" },
  available: null,
};

/** The examples in the API description for operations on accounts, platforms and quotas. */
export const ACCOUNT_EXAMPLES: Readonly<Record<string, OperationExamples>> = {
  listAccounts: { answers: { 200: { accounts: [EXAMPLE_DATA["account.connected"]] } } },
  getAccountSettings: { answers: { 200: SETTINGS } },
  updateAccountSettings: {
    requests: {
      replies: { summary: "Who may reply", value: { replySettings: "following" } },
      reset: { summary: "Back to the default", value: { replySettings: null } },
    },
    answers: { 200: SETTINGS },
  },
  listPlatforms: {
    answers: {
      200: {
        platforms: toPlatforms([]).map((platform) => ({
          ...platform,
          available: true,
          unavailableReason: null,
        })),
      },
    },
  },
  getQuota: {
    answers: {
      200: {
        monthly: { ...quota, used: 120, reserved: 4, remaining: 876 },
        dailyLimits: [
          {
            platform: "instagram",
            accountId: EXAMPLE_IDS.otherAccount,
            scope: "account",
            limit: 50,
            used: 3,
            reserved: 1,
            remaining: 46,
            resetsAt: "2026-11-22T00:00:00.000Z",
          },
        ],
      },
    },
  },
};
