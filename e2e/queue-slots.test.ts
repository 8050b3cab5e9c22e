import { expect, test } from "vitest";
import { create, refusalOf, whenPost, type PostDetail } from "./support/requests/posts.ts";
import { openTenant, type Tenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

const DAY_MS = 86_400_000;

const system = await useSharedSystem();

interface Rule {
  readonly id: string;
  readonly nextSlots: readonly string[];
}

/**
 * First date of the queue-slot rules. It has not begun in any time zone, so the first free slots
 * are on it and no slot passes while a test runs.
 */
const STARTS_ON = new Date(Date.now() + 3 * DAY_MS).toISOString().slice(0, "YYYY-MM-DD".length);
const DAILY = {
  name: "Twice a day",
  weekdays: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
  times: ["18:30", "09:00"],
  timezone: "Asia/Seoul",
  startsOn: STARTS_ON,
};
/**
 * The instant of the slot with this index under the queue-slot rule DAILY, whose time zone is nine
 * hours ahead of UTC.
 */
const slotAt = (index: number) =>
  new Date(
    Date.parse(`${STARTS_ON}T${index % 2 === 0 ? "00:00" : "09:30"}Z`) +
      Math.floor(index / 2) * DAY_MS,
  ).toISOString();

const addRule = async ({ api }: Tenant, body: object) =>
  await api.call<Rule>("POST", "/queue-slots", { body });
const listRules = async ({ api }: Tenant) =>
  (await api.call<{ rules: Rule[] }>("GET", "/queue-slots")).body.rules;

test("posts that are added to the posting queue at the same moment each take a different one of the first free time slots", async () => {
  const tenant = await openTenant(system);
  const bluesky = await tenant.connect("bluesky");
  expect((await addRule(tenant, DAILY)).body.nextSlots).toEqual([0, 1, 2].map(slotAt));
  // A second queue-slot rule has slots at the same instants, given in another time zone.
  await addRule(tenant, { ...DAILY, times: ["00:00", "09:30"], timezone: "UTC" });
  const posts = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      create(tenant.api, { content: `slot ${index}`, accountIds: [bluesky], queueSlot: true }),
    ),
  );
  expect(new Set(posts.map(({ scheduledAt }) => scheduledAt))).toEqual(
    new Set(posts.map((_, index) => slotAt(index))),
  );
  const [rule] = await listRules(tenant);
  expect(rule?.nextSlots).toEqual([20, 21, 22].map(slotAt));
});

test("a queued post frees its time slot when it is deleted or published early, and keeps the slot when the rule that defines the slot is deleted", async () => {
  const tenant = await openTenant(system);
  const bluesky = await tenant.connect("bluesky");
  const { id } = (await addRule(tenant, DAILY)).body;
  const queue = async (content: string): Promise<PostDetail> => {
    const post = await create(tenant.api, { content, accountIds: [bluesky], queueSlot: true });
    expect(post).toMatchObject({ scheduledAt: slotAt(0), queueSlotRuleId: id });
    return post;
  };
  await tenant.api.call("DELETE", `/posts/${(await queue("deleted")).id}`);
  const path = `/posts/${(await queue("early")).id}`;
  const early = await tenant.api.call<PostDetail>("POST", `${path}/publish`);
  expect(early.body.queueSlotRuleId).toBeNull();
  await whenPost(tenant.api, early.body.id, "published");
  const kept = await queue("kept");
  expect((await tenant.api.call("DELETE", `/queue-slots/${id}`)).status).toBe(204);
  expect(await listRules(tenant)).toEqual([]);
  const { body } = await tenant.api.call<PostDetail>("GET", `/posts/${kept.id}`);
  expect([body.status, body.scheduledAt]).toEqual(["scheduled", slotAt(0)]);
  const refused = { content: "no rule", accountIds: [bluesky], queueSlot: true };
  expect(refusalOf(await tenant.api.call("POST", "/posts", { body: refused }))).toBe(
    "409 no_queue_slot",
  );
});
