import type { CommentPage, CommentsConnector } from "#src/comments/connector.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { signal, type TestPlatform } from "./test-platform.ts";

/**
 * Lets a reader of the simulated platform comment on a post of the account, and returns the id of
 * the comment.
 */
export async function addComment(
  platform: TestPlatform,
  account: AccountAccess,
  comment: {
    readonly mediaId: string;
    readonly text: string;
    readonly author?: string;
    readonly createdAt?: string;
  },
): Promise<string> {
  const name = platform.url.split("/").at(-1);
  const body = { author: "eve", ...comment, platform: name, account: account.externalId };
  return (await platform.control<{ id: string }>("POST", "comments", body)).id;
}

/** Reads a page of comments, and fails when the connector did not return a page. */
export async function readPage(
  connector: CommentsConnector,
  account: AccountAccess,
  mediaId: string,
  { limit = 50, after }: { readonly limit?: number; readonly after?: string | undefined } = {},
): Promise<CommentPage> {
  const page = await connector.listComments(account, { mediaId, limit, after }, signal);
  if (page.kind !== "page") throw new Error(`the comments were not read: ${JSON.stringify(page)}`);
  return page;
}

export async function readAllTexts(
  connector: CommentsConnector,
  account: AccountAccess,
  mediaId: string,
  limit: number,
): Promise<readonly (readonly string[])[]> {
  const pages: string[][] = [];
  let after: string | undefined;
  do {
    const page = await readPage(connector, account, mediaId, { limit, after });
    pages.push(page.comments.map(({ text }) => text));
    after = page.next;
  } while (after !== undefined && pages.length < 100);
  return pages;
}
