import type { Client } from "@postrider/client";
import { sampleMp4 } from "@postrider/local/demo/sample-media";
import type postgres from "postgres";
import type { SimulatorControl } from "../support/requests/simulator.ts";
import { moveToPast } from "./backdate.ts";
import type { AccountName, ShownPost } from "./shown-posts.ts";

const HOUR_MS = 3_600_000;

interface Made {
  readonly id: string;
}

/** What all parts of the shown workspace need. */
export interface Shown {
  readonly client: Client;
  readonly sql: postgres.Sql;
  readonly simulator: SimulatorControl;
  readonly ids: Readonly<Record<AccountName, string>>;
  readonly accounts: readonly {
    readonly id: string;
    readonly platform: string;
    readonly externalId: string;
  }[];
  readonly create: (post: Omit<ShownPost, "at">, more?: object) => Promise<Made>;
}

/** Limits of simulated platforms end within seconds: what was refused is shown as if one lasted. */
async function reachLimit(
  { sql, ids }: Shown,
  name: AccountName,
  { id, workspaceId }: Made & { readonly workspaceId: string },
): Promise<void> {
  const [code, message] = ["platform_quota", "You have exceeded your quota of uploads for today."];
  await sql`update posts.targets set error_code = ${code}, error_message = ${message},
    error_retryable = true where post_id = ${id}`;
  await sql`update posts.target_attempts set code = ${code}, message = ${message}
    where target_id in (select id from posts.targets where post_id = ${id}) and code <> ''`;
  await sql`update delivery.publish_tasks set error_code = ${code} where post_id = ${id}`;
  const until = new Date(Date.now() + 3.2 * HOUR_MS);
  await sql`insert into delivery.account_breakers (account_id, workspace_id, not_before)
    values (${ids[name]}, ${workspaceId}, ${until})
    on conflict (account_id) do update set not_before = ${until}`;
}

/**
 * A post that needs a person for each of four reasons, and one that waits for a platform.
 *
 * @param workspaceId The one of the posts.
 */
export async function failPosts(shown: Shown, workspaceId: string): Promise<void> {
  const { create, ids, accounts, simulator, client, sql } = shown;
  const fail = async (name: AccountName, rule: object) => {
    const account = accounts.find(({ id }) => id === ids[name]);
    await simulator.addFault({
      platform: account?.platform,
      account: account?.externalId,
      operation: "publish",
      ...rule,
    });
  };
  const video = await client.uploadFile(sampleMp4({ seconds: 4, width: 368, height: 640 }), {
    fileName: "truing-a-wheel.mp4",
  });
  // Each is over before the next fault is added, which would otherwise meet the wrong post.
  const settle = async ({ id }: Made, hoursAgo: number) => {
    await client.waitForPost(id);
    await moveToPast(sql, id, new Date(Date.now() - hoursAgo * HOUR_MS));
  };
  await fail("hangangIg", { mode: "status", status: 401, times: 2 });
  const partly = await create({
    text: "한강 자전거길 겨울 코스 3곳: 여의도에서 행주까지, 초보도 두 시간이면 충분합니다.",
    on: ["te", "x", "fb", "hangangIg"],
    scene: "route",
  });
  await settle(partly, 5);
  await fail("tk", { operation: "create", mode: "refuse" });
  const refused = await create(
    { text: "정비소 브이로그 7편: 20년 된 크로몰리 프레임 되살리기", on: ["tk"] },
    { mediaIds: [video.id], options: { tiktok: { privacy: "public" } } },
  );
  await settle(refused, 21);
  await fail("yt", { operation: "create", mode: "refuse" });
  const limited = await create(
    { text: "정비소 브이로그 8편: 겨울 타이어, 공기압부터 다시 봅니다", on: ["yt"] },
    {
      mediaIds: [video.id],
      options: { youtube: { title: "정비소 브이로그 8편", privacy: "public" } },
    },
  );
  await settle(limited, 7);
  await reachLimit(shown, "yt", { ...limited, workspaceId });
  await fail("te", { mode: "drop_after_commit" });
  await settle(await create({ text: "오늘 저녁 공동구매 마감합니다.", on: ["te"] }), 27);
  await fail("fb", { mode: "status", status: 500, times: 20 });
  await create({
    text: "Neue Werkstattzeiten ab Dezember: Mo bis Sa 9 bis 19 Uhr, Express-Service am selben Tag.",
    on: ["x", "bs", "fb", "spreeIg"],
    scene: "shop",
  });
}
