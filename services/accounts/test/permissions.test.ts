import { expect, test } from "vitest";
import { setUpAccounts } from "./accounts-fixture.ts";

const fixture = setUpAccounts();

/**
 * Connects a simulated account of X, and asks X in its name to hide a reply. Returns the type of
 * X's error, because there is no such reply.
 */
async function hideReply(features: readonly "comments"[]): Promise<string> {
  await using app = fixture.createReplica({ features });
  const { accounts } = await app.accounts.connectSimulatedAccounts({
    workspaceId: fixture.workspaceId,
    platform: "x",
    count: 1,
  });
  const ref = { workspaceId: fixture.workspaceId, accountId: accounts[0]?.id ?? "" };
  const credential = await fixture.credentialOf(ref, app);
  const answer = await fetch(`${fixture.simulatorUrl}/x/2/tweets/1/hidden`, {
    method: "PUT",
    headers: {
      authorization: `Bearer ${credential?.accessToken}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ hidden: true }),
  });
  const { type } = (await answer.json()) as { type: string };
  return type;
}

test("a simulated account gets the permissions of the features that are turned on", async () => {
  const refused = "https://api.x.com/2/problems/not-authorized-for-resource";
  expect(await hideReply([])).toBe(refused);
  expect(await hideReply(["comments"])).not.toBe(refused);
});
