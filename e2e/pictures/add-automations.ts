import { eventually } from "@postrider/shared/testing/poll";
import type { SimulatorControl } from "../support/requests/simulator.ts";
import type { Shown } from "./fail-posts.ts";
import { ANSWERED } from "./shown-posts.ts";

/** A post on Instagram, for its comments. */
export type CommentedPost = Parameters<SimulatorControl["addComment"]>[0];

/**
 * Two rules, one of which answers comments that are written after it has become active.
 *
 * @param posts By their place among the published ones.
 */
export async function addAutomations(
  { client, ids, simulator }: Shown,
  posts: ReadonlyMap<number, CommentedPost>,
): Promise<void> {
  await client.createAutomationRule({
    accountId: ids.fb,
    name: "Werkstatt-Termin",
    keywords: ["Termin"],
    message: "Termine gibt es hier: https://spree-cycles.example/termin",
  });
  const { id } = await client.createAutomationRule({
    accountId: ids.spreeIg,
    name: "Price list",
    keywords: ["price", "kostet", "가격"],
    excludeKeywords: ["refund", "환불"],
    message: "Here is the price list, with and without a motor: https://spree-cycles.example/cargo",
  });
  await client.updateAutomationRule(id, { status: "active" });
  for (const [of, author, text] of ANSWERED) {
    const post = posts.get(of);
    const createdAt = new Date(Date.now() + 1_000).toISOString();
    if (post !== undefined) await simulator.addComment(post, { text, author, createdAt });
  }
  await eventually(async () => {
    const { runs } = await client.listAutomationRuns({ ruleId: id });
    if (runs.length < ANSWERED.length) throw new Error(`${runs.length} runs`);
  });
}
