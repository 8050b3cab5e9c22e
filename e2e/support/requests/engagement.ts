import { sampleJpeg, sampleMp4 } from "@postrider/local/demo/sample-media";
import type { SharedSystem } from "../system/system.ts";
import { createApi, type Api } from "./api.ts";
import { upload, type File } from "./media.ts";
import { create, whenTargets } from "./posts.ts";
import { createKey, type Tenant } from "./tenant.ts";

const PICTURE: File = { fileName: "a.jpg", contentType: "image/jpeg", bytes: sampleJpeg() };
const VIDEO: File = {
  fileName: "a.mp4",
  contentType: "video/mp4",
  bytes: sampleMp4({ seconds: 4, width: 368, height: 640 }),
};
const NEEDED: Readonly<Record<string, File>> = { instagram: PICTURE, youtube: VIDEO };
const OPTIONS: Readonly<Record<string, object>> = {
  youtube: { youtube: { title: "A title", privacy: "public" } },
};

/** A reader's comment as the REST API returns it. */
export interface CommentRecord {
  readonly id: string;
  readonly text: string;
  readonly author: { readonly id: string | null; readonly username: string | null };
  readonly createdAt: string;
  readonly likeCount: number | null;
  readonly replyCount: number | null;
  readonly hidden: boolean;
}

/** A published post on one account of a simulated platform. */
export interface Media {
  readonly platform: string;
  readonly accountId: string;
  /** Id of the account on the platform. */
  readonly account: string;
  readonly username: string;
  readonly postId: string;
  readonly targetId: string;
  /** Id of the post on the platform. */
  readonly id: string;
}

/** Publishes a post on a new account of the platform, or on the given one. */
export async function publishOn(
  { api, connect }: Pick<Tenant, "api" | "connect">,
  platform: string,
  given: { readonly accountId?: string; readonly content?: string } = {},
): Promise<Media> {
  const accountId = given.accountId ?? (await connect(platform));
  const file = NEEDED[platform];
  const mediaIds = file === undefined ? [] : [(await upload(api, file)).id];
  const content = given.content ?? `post ${crypto.randomUUID()}`;
  const body = { content, accountIds: [accountId], mediaIds, options: OPTIONS[platform] ?? {} };
  const post = await create(api, body);
  const { targets } = await whenTargets(api, post.id, "published");
  const [target] = targets;
  const { body: list } = await api.call<{
    accounts: readonly { id: string; externalId: string; username: string }[];
  }>("GET", "/accounts");
  const connected = list.accounts.find(({ id }) => id === accountId);
  if (target === undefined || target.externalId === null || connected === undefined)
    throw new Error("nothing is published");
  const { externalId: account, username } = connected;
  const { id: targetId, externalId: id } = target;
  return { platform, accountId, account, username, postId: post.id, targetId, id };
}

/**
 * Returns a time 1 s from now, for a new comment. Instagram and Facebook give times in whole
 * seconds, so a comment of the current second would seem older than a rule that was activated in
 * this second.
 */
export function justAfterNow(): string {
  return new Date(Date.now() + 1_000).toISOString();
}

/** URL path of the comments on the media, with the platform's media id percent-encoded. */
export function commentsOn({ accountId, id }: Pick<Media, "accountId" | "id">): string {
  return `/accounts/${accountId}/media/${encodeURIComponent(id)}/comments`;
}

/** URL path of the comment actions (for example a reply) on one comment. */
export function actionsOn(media: Pick<Media, "accountId" | "id">, commentId: string): string {
  return `${commentsOn(media)}/${encodeURIComponent(commentId)}/actions`;
}

/** Returns a client of the REST API whose API key has only the given scopes. */
export async function openKey(
  system: Pick<SharedSystem, "operate" | "local">,
  workspaceId: string,
  scopes: string,
): Promise<Api> {
  return createApi(system.local().baseUrl, await createKey(system, workspaceId, scopes));
}
